// Work that goes on in the server: followed as it happens, by its stream of events.
import { events, get } from "./api.js";
import { count, h, icon, time } from "./dom.js";
import { prose } from "./states.js";

const AGAIN = 1000; // ms until a stream that broke off is asked for again
const TRIES = 3;

const STAGES = { walk: "Looking for files", read: "Reading", store: "Storing", embed: "Making vectors", done: "Done" };
const STATES = { done: ["good", "Done"], failed: ["bad", "Failed"], cancelled: ["warn", "Stopped"] };

/** Follow jobs until they end or `stop` is called; `tell` gets each one as it changes. */
export function makeFollower(tell) {
  const followed = new Map();

  async function follow(job) {
    if (followed.has(job.id) || job.state !== "running") return;
    const mine = new AbortController();
    followed.set(job.id, mine);
    for (let tries = 0; tries < TRIES && !mine.signal.aborted; tries += 1) {
      try {
        for await (const { event, data } of events(`/jobs/${job.id}/events`, { signal: mine.signal })) {
          tell(data);
          if (event === "end") {
            followed.delete(job.id);
            return;
          }
        }
      } catch (error) {
        if (error.name === "AbortError") return;
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
    followed.delete(job.id);
    if (!mine.signal.aborted) get(`/jobs/${job.id}`).then(tell, () => {});
  }

  function stop() {
    for (const each of followed.values()) each.abort();
    followed.clear();
  }

  return { follow, stop };
}

const REPORTED = [["added", "added"], ["changed", "changed"], ["moved", "moved"], ["removed", "removed"], ["unchanged", "unchanged"], ["embedded", "embedded"]];

/** What came of a job, in a line: its reports may be one or several. */
export function outcome(job) {
  if (job.error) return job.error.message;
  const totals = new Map();
  const look = (value) => {
    if (Array.isArray(value)) value.forEach(look);
    else if (value && typeof value === "object") {
      for (const [name, label] of REPORTED) if (typeof value[name] === "number") totals.set(label, (totals.get(label) ?? 0) + value[name]);
      for (const inner of Object.values(value)) if (inner && typeof inner === "object") look(inner);
    }
  };
  look(job.result);
  return [...totals].filter(([, total]) => total).map(([label, total]) => `${count(total)} ${label}`).join(", ");
}

function guarded(job) {
  const all = [job.result ?? []].flat(3).flatMap((each) => [each, ...Object.values(each ?? {})]).flat();
  return all.map((each) => each?.guarded).find(Boolean);
}

/** A job as it stands, with a way to stop it. */
export function jobLine(job, cancel) {
  const { step } = job;
  const running = job.state === "running";
  const known = step?.total > 0;
  const stage = STAGES[step?.stage] ?? "";
  const progress = h("progress", { max: known ? step.total : null, value: known ? step.done : null, "aria-label": job.what });
  const [kind, label] = STATES[job.state] ?? ["", ""];
  const said = guarded(job);
  return h(
    "div",
    { class: "job", data: { job: job.id, state: job.state } },
    h(
      "div",
      { class: "job-top" },
      h("span", {}, job.what),
      running
        ? h("span", { class: "faint numbers" }, stage, known ? ` ${count(step.done)} of ${count(step.total)}` : "")
        : [h("span", { class: `chip ${kind}` }, label), h("span", { class: "faint" }, outcome(job))],
      h("span", { class: "push" }),
      running && cancel && h("button", { type: "button", class: "button bare", on: { click: () => cancel(job) } }, icon("close"), "Stop"),
      !running && h("span", { class: "faint" }, time(job.ended, { exact: true })),
    ),
    running && progress,
    running && step?.path && h("p", { class: "faint job-path" }, step.path),
    said && h("p", { class: "notes" }, prose(said)),
    job.error?.hint && h("p", { class: "faint" }, prose(job.error.hint)),
  );
}

