// Files that are not indexed: which, why, and what can be done.
import { call } from "../api.js";
import { fill, h, icon, several, time } from "../dom.js";
import { failed, prose } from "../states.js";

const STATES = [["failed", "Could not be read"], ["skipped", "Left out"], ["excluded", "Taken out by you"]];
let chosen = "failed";

async function page(cursor) {
  const query = { state: chosen, limit: 100, ...(cursor ? { cursor } : {}) };
  return call("GET", "/failures", { query });
}

function row(entry) {
  return h(
    "li",
    {},
    h("p", { class: "failure-file" }, h("span", {}, entry.file), h("span", { class: "chip" }, entry.code), h("span", { class: "faint push" }, time(entry.at))),
    h("p", { class: "soft" }, prose(entry.reason)),
    entry.hint && h("p", { class: "faint" }, prose(entry.hint)),
  );
}

/** Draw them into `place`; `retry` starts to read those again that failed. */
export async function drawFailures(place, retry) {
  const list = h("ul", { class: "failures" });
  const below = h("div", { class: "more" });
  const select = h(
    "select",
    { class: "button", "aria-label": "Which files" },
    STATES.map(([value, label]) => h("option", { value, selected: value === chosen }, label)),
  );
  select.addEventListener("change", () => {
    chosen = select.value;
    drawFailures(place, retry);
  });
  const title = h("h2", { id: "unread-title" }, "Files that are not indexed");
  const again = h("button", { type: "button", class: "button" }, icon("refresh"), "Try these again");
  again.addEventListener("click", retry);
  const append = async (cursor) => {
    const { data, meta } = await page(cursor);
    list.append(...data.map(row));
    if (!list.children.length) list.append(h("li", { class: "soft" }, chosen === "failed" ? "Every file could be read." : "None."));
    again.hidden = chosen !== "failed" || !data.length;
    const next = h("button", { type: "button", class: "button", on: { click: () => append(meta.next_cursor) } }, "Show more");
    fill(below, meta.next_cursor && next);
    title.textContent = data.length ? `Files that are not indexed: ${several(list.children.length, "file")}${meta.next_cursor ? " so far" : ""}` : "Files that are not indexed";
  };
  try {
    await append(null);
  } catch (error) {
    fill(place, failed(error, () => drawFailures(place, retry)));
    return;
  }
  const focused = place.contains(document.activeElement);
  fill(place, h("div", { class: "page-head" }, title, h("span", { class: "push" }), again, select), h("div", { class: "card" }, list), below);
  if (focused) select.focus();
}

