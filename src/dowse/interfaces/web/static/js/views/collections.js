// The collections: add, update, remove, with the work as it happens and what could not be read.
import { call, get } from "../api.js";
import { announce, count, fill, h, icon, several, time } from "../dom.js";
import { jobLine, makeFollower } from "../jobs.js";
import { address } from "../places.js";
import { empty, failed, notes, prose } from "../states.js";
import { drawFailures } from "./failures.js";

const SHOWN_JOBS = 6;

const trouble = h("div", { role: "alert" });
const cards = h("div", { class: "cards" });
const work = h("div", {});
const unread = h("div", { id: "unread" });
const form = h("form", { class: "card add", "aria-labelledby": "add-title", on: { submit: add } });
const banner = h("div", {});
const root = h(
  "div",
  { class: "stack" },
  h("div", { class: "page-head" }, h("h1", {}, "Collections"), h("span", { class: "push" }), h("button", { type: "button", class: "button", id: "update-all", on: { click: updateAll } }, icon("refresh"), "Update all")),
  banner, trouble, cards, form, work, unread,
);

let status = null;
let jobs = new Map();
let alive = false;
let leaving = null; // the collection of which it is asked whether it shall go
const follower = makeFollower(onJob);

export function enter() {
  alive = true;
  leaving = null;
  drawForm();
  return root;
}

export function leave() {
  alive = false;
  follower.stop();
}

export const show = () => load();

async function load() {
  try {
    status = await get("/status");
  } catch (error) {
    fill(cards, failed(error, load));
    return;
  }
  if (!alive) return;
  jobs = new Map(status.jobs.map((job) => [job.id, jobs.get(job.id)?.state !== "running" && jobs.has(job.id) ? jobs.get(job.id) : job]));
  for (const job of jobs.values()) follower.follow(job);
  draw();
  drawFailures(unread, () => mayWrite() && start("/jobs", { kind: "update", retry: true }));
}

const mayWrite = () => status?.access?.can_write !== false;

function draw() {
  fill(
    banner,
    mayWrite()
      ? null
      : notes(["You can look, but not change anything: open the address that the server printed when it started, which ends in `#token=…`."]),
  );
  for (const control of form.elements) control.disabled = !mayWrite();
  document.getElementById("update-all").disabled = !mayWrite() || !status.collections.length;
  drawCards();
  drawWork();
}

function drawCards() {
  if (!status.collections.length) {
    fill(cards, empty("No collection yet", h("p", {}, "Add a folder below. Your files are only read; the index is a folder of its own.")));
    return;
  }
  const held = document.activeElement?.closest("[data-collection]")?.dataset.collection;
  const label = document.activeElement?.textContent;
  fill(cards, status.collections.map(card));
  if (held) focusOn(held, label); // work that ends draws the cards anew, and may not take the focus away
}

function focusOn(name, label) {
  const controls = cards.querySelectorAll(`[data-collection="${CSS.escape(name)}"] :is(a, button)`);
  [...controls].find((control) => control.textContent === label)?.focus();
}

function drawWork() {
  const all = [...jobs.values()].slice(0, SHOWN_JOBS);
  const list = h("div", { class: "card jobs" }, all.map((job) => jobLine(job, cancel)));
  fill(work, all.length > 0 && h("section", { "aria-labelledby": "work-title" }, h("h2", { id: "work-title" }, "Work"), list));
}

function card(each) {
  const running = [...jobs.values()].find((job) => job.state === "running" && job.collections?.includes(each.name));
  return h(
    "article",
    { class: "card collection", data: { collection: each.name } },
    h("h2", {}, h("a", { href: address({ in: each.name }), data: { own: "1" } }, each.name)),
    each.description && h("p", { class: "soft" }, each.description),
    h("p", { class: "faint folder" }, each.path ?? "Only what is put in by hand"),
    h(
      "p",
      { class: "chips" },
      h("span", { class: "chip" }, several(each.documents, "document")),
      h("span", { class: "chip" }, several(each.chunks, "passage")),
      each.needs_embedding > 0 && h("span", { class: "chip warn", title: "Found by words; not yet by meaning" }, `${count(each.needs_embedding)} without vectors`),
      each.failed > 0 && h("a", { class: "chip bad", href: "#unread" }, `${count(each.failed)} failed`),
      each.skipped > 0 && h("span", { class: "chip" }, `${count(each.skipped)} skipped`),
      !each.included && h("span", { class: "chip" }, "only when asked for"),
    ),
    h("p", { class: "faint" }, "Updated ", time(each.updated, { exact: true }) ?? "never"),
    running && jobLine(running, cancel),
    h("div", { class: "actions" }, leaving === each.name ? removal(each) : actions(each, running)),
  );
}

function actions(each, running) {
  const update = h("button", { type: "button", class: "button" }, icon("refresh"), "Update");
  const remove = h("button", { type: "button", class: "button bare bad" }, icon("trash"), "Remove");
  update.disabled = !mayWrite() || Boolean(running);
  remove.disabled = !mayWrite();
  update.addEventListener("click", () => start(`/collections/${encodeURIComponent(each.name)}/update`, {}));
  remove.addEventListener("click", () => {
    leaving = each.name;
    drawCards();
    focusOn(each.name, "Keep it");
  });
  return [update, remove];
}

function removal(each) {
  const yes = h("button", { type: "button", class: "button bad" }, `Remove ${each.name}`);
  const no = h("button", { type: "button", class: "button" }, "Keep it");
  no.addEventListener("click", () => {
    leaving = null;
    drawCards();
    focusOn(each.name, "Remove");
  });
  yes.addEventListener("click", async () => {
    yes.disabled = true;
    await attempt(async () => {
      const { data } = await call("DELETE", `/collections/${encodeURIComponent(each.name)}`);
      announce(`${each.name} is removed`);
      say(`${each.name} is removed from the index, with ${several(data.documents, "document")}. The files are where they were.`);
    });
    leaving = null;
    await load();
  });
  return [h("p", { class: "faint" }, `${several(each.documents, "document")} leave the index. The files stay.`), yes, no];
}

function drawForm() {
  if (form.children.length) return;
  const field = (label, props) => h("label", { class: "field" }, label, h("input", props));
  fill(
    form,
    h("h2", { id: "add-title" }, "Add a folder"),
    h(
      "div",
      { class: "fields" },
      field("Folder", { name: "path", required: true, placeholder: "/home/you/notes", autocomplete: "off", spellcheck: "false" }),
      field("Name (optional)", { name: "name", placeholder: "the folder's own", autocomplete: "off", spellcheck: "false" }),
      field("Files (optional)", { name: "pattern", placeholder: "**/*", autocomplete: "off", spellcheck: "false" }),
      h("button", { class: "button main" }, icon("plus"), "Add and index"),
    ),
  );
}

async function add(event) {
  event.preventDefault();
  const body = { update: true };
  for (const [name, value] of new FormData(form)) if (value.trim()) body[name] = value.trim();
  await attempt(async () => {
    const { data } = await call("POST", "/collections", { body });
    announce(`${data.name} is added`);
    form.reset();
    if (data.job) onJob(await get(`/jobs/${data.job}`));
  });
  await load();
}

function updateAll() {
  start("/jobs", { kind: "update" });
}

async function start(path, body) {
  await attempt(async () => onJob((await call("POST", path, { body })).data));
}

const cancel = (job) => attempt(async () => onJob((await call("DELETE", `/jobs/${job.id}`)).data));

async function attempt(act) {
  fill(trouble);
  try {
    await act();
  } catch (error) {
    fill(trouble, h("div", { class: "notes bad" }, h("p", {}, prose(error.message)), error.hint && h("p", {}, prose(error.hint))));
  }
}

function say(text) {
  fill(trouble, notes([text]));
}

function onJob(job) {
  const before = jobs.get(job.id);
  jobs = new Map([[job.id, job], ...[...jobs].filter(([id]) => id !== job.id)]);
  if (!alive) return;
  follower.follow(job);
  const ended = job.state !== "running" && before?.state === "running";
  if (ended) {
    announce(`${job.what}: ${job.state}`);
    load();
  } else if (before && status) {
    redraw(job);
  } else if (status) draw();
}

// A step of a job changes its lines alone: what has the focus elsewhere keeps it.
function redraw(job) {
  for (const line of root.querySelectorAll(`[data-job="${CSS.escape(job.id)}"]`)) {
    if (!line.contains(document.activeElement)) line.replaceWith(jobLine(job, cancel));
    else {
      const bar = line.querySelector("progress");
      if (bar && job.step?.total) Object.assign(bar, { max: job.step.total, value: job.step.done });
    }
  }
}
