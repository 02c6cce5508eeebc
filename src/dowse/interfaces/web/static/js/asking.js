// One question at a time: the latest one. Earlier requests are aborted, and an answer that comes late is dropped.
import { call } from "./api.js";
import { MODES, toBody } from "./question.js";

const pause = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

/**
 * @param onAnswer gets `{ question, body, data, meta, last }`, words first and then refined
 * @param onError gets the error and the question
 * @param onBusy gets whether an answer is still to come
 */
export function makeAsker({ onAnswer, onError, onBusy }) {
  let running = null;

  function stop() {
    running?.abort();
    running = null;
    onBusy(false);
  }

  async function ask(question, stats, { now = false } = {}) {
    running?.abort();
    const mine = new AbortController();
    running = mine;
    onBusy(true);
    const { steps } = MODES[question.mode];
    let answered = null;
    try {
      for (const [index, [mode, delay]] of steps.entries()) {
        if (delay && !now) await pause(delay, mine.signal);
        const last = index === steps.length - 1;
        const body = toBody(question, mode, stats, last);
        const { data, meta } = await call("POST", "/search", { body, signal: mine.signal });
        if (running !== mine) return;
        answered = { question, body, data, meta, last };
        onAnswer(answered);
      }
    } catch (error) {
      if (running !== mine || error.name === "AbortError") return;
      if (answered) onAnswer({ ...answered, last: true, trouble: error });
      else onError(error, question);
    }
    if (running === mine) onBusy(false);
  }

  return { ask, stop };
}
