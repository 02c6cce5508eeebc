// Points on a canvas that can be moved and enlarged: by wheel, fingers, mouse and keys.
const NEAR = 12; // pixels within which a point is meant
const CLOSEST = 60;
const FARTHEST = 0.8;
const STEP = 1.5;
const PAN = 60;
const MARGIN = 0.92;

/** The middle of some points, and half of what they take up. */
export function frameOf(points) {
  const ends = (axis) => points.reduce(([low, high], point) => [Math.min(low, point[axis]), Math.max(high, point[axis])], [Infinity, -Infinity]);
  if (!points.length) return { x: 0, y: 0, width: 1, height: 1 };
  const [left, right] = ends("x");
  const [bottom, top] = ends("y");
  return { x: (left + right) / 2, y: (bottom + top) / 2, width: (right - left) / 2 || 1, height: (top - bottom) / 2 || 1 };
}

/**
 * @param canvas where to draw
 * @param colour `(point) => css colour`, `style()` gives the present colours of the page
 * @param tell `{ hover(point, x, y), open(point), moved() }`
 */
export function makeScatter(canvas, { colour, style, tell }) {
  let points = [];
  let lit = null;
  let under = null;
  let view = { x: 0, y: 0, zoom: 1 };
  let size = { width: 1, height: 1 };
  let frame = frameOf([]);
  let waiting = 0;
  const fingers = new Map();
  let moved = 0;

  const at = (point) => [
    size.width / 2 + ((point.x - frame.x) / frame.width - view.x) * unit("width"),
    size.height / 2 - ((point.y - frame.y) / frame.height - view.y) * unit("height"),
  ];
  const unit = (side) => (size[side] / 2) * MARGIN * view.zoom; // pixels from the middle to the border of everything

  function redraw() {
    if (!waiting) waiting = requestAnimationFrame(draw);
  }

  function draw() {
    waiting = 0;
    const ratio = devicePixelRatio || 1;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    const radius = Math.min(5, 2.2 + Math.log2(Math.max(1, view.zoom)) * 0.6);
    const dot = (point, extra, alpha) => {
      const [x, y] = at(point);
      if (x < -9 || y < -9 || x > size.width + 9 || y > size.height + 9) return;
      context.globalAlpha = alpha;
      context.fillStyle = colour(point);
      context.beginPath();
      context.arc(x, y, radius + extra, 0, Math.PI * 2);
      context.fill();
    };
    for (const point of points) if (!lit?.has(point)) dot(point, 0, lit ? 0.25 : 0.72);
    const { ink } = style();
    const ring = (point, width, reach) => {
      const [x, y] = at(point);
      context.globalAlpha = 1;
      context.strokeStyle = ink;
      context.lineWidth = width;
      context.beginPath();
      context.arc(x, y, radius + reach, 0, Math.PI * 2);
      context.stroke();
    };
    for (const point of lit ?? []) {
      dot(point, 2, 1);
      ring(point, 1, 2.5);
    }
    if (under) {
      dot(under, 2, 1);
      ring(under, 2, 4);
    }
    context.globalAlpha = 1;
  }

  function resize() {
    const { clientWidth: width, clientHeight: height } = canvas;
    const ratio = devicePixelRatio || 1;
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    size = { width, height };
    redraw();
  }

  function zoomAt(factor, x = size.width / 2, y = size.height / 2) {
    const before = view.zoom;
    const zoom = Math.max(FARTHEST, Math.min(CLOSEST, before * factor));
    const shift = 1 - before / zoom;
    view = { x: view.x + ((x - size.width / 2) / unit("width")) * shift, y: view.y - ((y - size.height / 2) / unit("height")) * shift, zoom };
    changed();
  }

  function panBy(x, y) {
    view = { ...view, x: view.x - x / unit("width"), y: view.y + y / unit("height") };
    changed();
  }

  function changed() {
    redraw();
    tell.moved();
  }

  function nearest(x, y) {
    let best = null;
    let least = NEAR * NEAR;
    for (const point of points) {
      const [px, py] = at(point);
      const distance = (px - x) ** 2 + (py - y) ** 2 - (lit?.has(point) ? 20 : 0);
      if (distance < least) [best, least] = [point, distance];
    }
    return best;
  }

  const spot = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  function hover(point, x, y) {
    if (point !== under) redraw();
    under = point;
    canvas.style.cursor = point ? "pointer" : "grab";
    tell.hover(point, x, y);
  }

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomAt(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0018)), ...spot(event));
  }, { passive: false });

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, spot(event));
    moved = 0;
  });

  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = spot(event);
    const before = fingers.get(event.pointerId);
    if (!before) {
      hover(nearest(x, y), x, y);
      return;
    }
    moved += Math.hypot(x - before[0], y - before[1]);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    fingers.set(event.pointerId, [x, y]);
    if (other) {
      const factor = Math.hypot(x - other[0], y - other[1]) / (Math.hypot(before[0] - other[0], before[1] - other[1]) || 1);
      zoomAt(factor, (x + other[0]) / 2, (y + other[1]) / 2);
    } else if (moved > 3) panBy(x - before[0], y - before[1]);
  });

  canvas.addEventListener("pointerup", (event) => {
    const alone = fingers.size === 1;
    fingers.delete(event.pointerId);
    const point = nearest(...spot(event));
    if (alone && moved <= 6 && point) tell.open(point);
  });
  canvas.addEventListener("pointercancel", (event) => fingers.delete(event.pointerId));
  canvas.addEventListener("pointerleave", () => hover(null, 0, 0));

  const KEYS = {
    ArrowLeft: () => panBy(PAN, 0),
    ArrowRight: () => panBy(-PAN, 0),
    ArrowUp: () => panBy(0, PAN),
    ArrowDown: () => panBy(0, -PAN),
    "+": () => zoomAt(STEP),
    "=": () => zoomAt(STEP),
    "-": () => zoomAt(1 / STEP),
    0: reset,
  };
  canvas.addEventListener("keydown", (event) => {
    if (!KEYS[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    KEYS[event.key]();
  });

  function reset() {
    view = { x: 0, y: 0, zoom: 1 };
    changed();
  }

  const watcher = new ResizeObserver(resize);
  watcher.observe(canvas);

  return {
    redraw,
    reset,
    zoomIn: () => zoomAt(STEP),
    zoomOut: () => zoomAt(1 / STEP),
    /** Draw these; where they lie is told by all of them, also those that are hidden. */
    set(some, all) {
      points = some;
      frame = frameOf(all);
      redraw();
    },
    light(some) {
      lit = some?.size ? some : null;
      redraw();
    },
    /** Those that are in sight, the lit ones first. */
    inSight() {
      const seen = points.filter((point) => {
        const [x, y] = at(point);
        return x >= 0 && y >= 0 && x <= size.width && y <= size.height;
      });
      return lit ? [...seen.filter((point) => lit.has(point)), ...seen.filter((point) => !lit.has(point))] : seen;
    },
    stop: () => watcher.disconnect(),
  };
}
