// A job of any kind: its state, what can be done with it, and its events as they come.
import { html } from "html";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, request } from "./api.js";
import { Dangerous, attempt } from "./dialog.js";
import { Time, duration, words } from "./format.js";
import { usePoll } from "./loading.js";
import { Button, Empty, Failure, Progress, Sign, Status } from "./parts.js";
import { may } from "./session.js";

const SHOWN_EVENTS = 1000;
const PAUSE_SECONDS = 1;
const SLOWEST_SECONDS = 30;
export const ENDED = ["completed", "partially_failed", "failed", "cancelled", "expired"];

// Load a job again and again until it has ended: { data, error, reload }.
export const useJob = (path, seconds = 2, values = {}) => {
  const [isOver, setOver] = useState(false);
  return usePoll(
    async (options) => {
      const job = await api.get(path, values, options);
      setOver(ENDED.includes(job.status));
      return job;
    },
    seconds,
    [path],
    !isOver,
  );
};

const eventsOf = (text) =>
  text.split("\n\n").flatMap((block) => {
    const data = block.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
    return data.length ? [JSON.parse(data.join("\n"))] : [];
  });

const rest = (seconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

// Follow the events of a job from its first one: { events, state, error }, where `state` is "live",
// "reconnecting" or "ended". After a lost connection it goes on behind the last event. `round`
// begins again, for a job that was retried.
export const useEvents = (path, round = 0) => {
  const [seen, setSeen] = useState({ events: [], state: "live", error: null });
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    setSeen({ events: [], state: "live", error: null });
    const follow = async () => {
      let last = "";
      let failures = 0;
      while (!signal.aborted) {
        try {
          const headers = last ? { "Last-Event-ID": last } : {};
          const response = await request("GET", path, { headers, signal });
          if (response.status === 204) {
            setSeen((former) => ({ ...former, state: "ended", error: null }));
            return;
          }
          const found = eventsOf(await response.text());
          last = found.at(-1)?.id ?? last;
          failures = 0;
          setSeen((former) => ({ events: [...former.events, ...found].slice(-SHOWN_EVENTS), state: "live", error: null }));
          await rest(PAUSE_SECONDS, signal);
        } catch (error) {
          if (signal.aborted) return;
          if (error.status === 404 || error.status === 403) {
            setSeen((former) => ({ ...former, state: "ended", error }));
            return;
          }
          failures += 1;
          setSeen((former) => ({ ...former, state: "reconnecting", error }));
          await rest(Math.max(error.retryAfter ?? 0, Math.min(2 ** failures, SLOWEST_SECONDS)), signal);
        }
      }
    };
    follow();
    return () => abort.abort();
  }, [path, round]);
  return seen;
};

const SIGNS = { error: "bad", warning: "warning", step_done: "good", step_started: "busy" };

const Event = ({ event, former }) => {
  const gap = former ? new Date(event.created_at) - new Date(former.created_at) : null;
  const hasData = Object.keys(event.data ?? {}).length > 0;
  return html`<li class=${`event ${event.event}`}>
    <${Sign} as=${SIGNS[event.event] ?? "plain"} />
    <span class="when"><${Time} at=${event.created_at} /></span>
    <span class="what">
      ${event.message || words(event.event)}
      ${gap > 1000 && html`<span class="small"> after ${duration(gap)}</span>`}
      ${hasData && html`<details><summary>Details</summary><pre>${JSON.stringify(event.data, null, 2)}</pre></details>`}
    </span>
  </li>`;
};

const STATES = {
  live: "Live: new events appear here by themselves.",
  reconnecting: "The connection was lost. Trying again …",
  ended: "The job has ended.",
};

// The events of a job, oldest first, live until its end.
export const Events = ({ path, round, onEvent }) => {
  const { events, state, error } = useEvents(path, round);
  const told = useRef(0);
  useEffect(() => {
    if (events.length !== told.current || state === "ended") onEvent?.();
    told.current = events.length;
  }, [events.length, state]);
  return html`<div class="timeline">
    <p class="small" role="status">${STATES[state]} ${events.length === SHOWN_EVENTS && `The last ${SHOWN_EVENTS} events are shown.`}</p>
    ${state !== "live" && html`<${Failure} error=${error} />`}
    ${events.length === 0 && state === "ended" && !error && html`<${Empty} title="No events.">Events are kept for 30 days.</${Empty}>`}
    <ol>${events.map((event, index) => html`<${Event} key=${event.id} event=${event} former=${events[index - 1]} />`)}</ol>
  </div>`;
};

const REPEATS = {
  crawl_batch: "Only the pages that failed are crawled again.",
  publish_batch: "Only the products that failed are published again.",
};

// What can be done with a job in its state, for callers who may.
export const JobActions = ({ job, changed, permission = "control_jobs", path = `api/v1/jobs/${job.job_id}` }) => {
  if (!may(permission, "write")) return null;
  const move = (name, done) => async () => {
    await attempt(() => api.post(`${path}/${name}`), done);
    changed?.();
  };
  const has = (...statuses) => statuses.includes(job.status);
  return html`
    ${has("pending", "running") && html`<${Button} act=${move("pause", "Paused.")}>Pause</${Button}>`}
    ${has("paused") && html`<${Button} kind="main" act=${move("resume", "Goes on.")}>Resume</${Button}>`}
    ${has("failed", "partially_failed", "expired") && html`<${Button} kind="main" title=${REPEATS[job.kind]} act=${move("retry", "Started again.")}>Retry</${Button}>`}
    ${has("pending", "running", "paused") && html`<${Dangerous} title="Cancel this job?"
      question="It stops at its next step. What it has done so far stays." action="Cancel the job" done="Cancelled."
      act=${async () => { await api.post(`${path}/cancel`); changed?.(); }}>Cancel</${Dangerous}>`}
  `;
};

// The phases of a run as parts of one bar: waiting, then working.
export const Phases = ({ job }) => {
  const at = (time) => (time ? new Date(time).getTime() : null);
  const created = at(job.created_at);
  const end = at(job.finished_at) ?? Date.now();
  const started = at(job.started_at) ?? end;
  if (!created || job.run > 1) return null;
  const total = Math.max(end - created, 1);
  const waited = Math.min(Math.max((started - created) / total, 0), 1) * 100;
  return html`<figure class="phases">
    <svg viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label=${`waited ${duration(started - created)}, worked ${duration(end - started)}`}>
      <rect class="wait" x="0" y="0" width=${waited} height="4" />
      <rect class="work" x=${waited} y="0" width=${100 - waited} height="4" />
    </svg>
    <figcaption class="small">waited ${duration(started - created)}, ${job.finished_at ? "worked" : "working for"} ${duration(end - started)}</figcaption>
  </figure>`;
};

// State, progress and step of a job in one line.
export const JobState = ({ job }) =>
  html`<div class="job-state">
    <${Status} of=${job.status} />
    ${!ENDED.includes(job.status) && html`<${Progress} value=${job.progress} label="Progress" /> <span>${job.progress} %</span>`}
    ${job.step && !ENDED.includes(job.status) && html`<span class="small">${words(job.step)}</span>`}
    ${job.waiting_for && html`<span class="small">waits for ${words(job.waiting_for)}</span>`}
  </div>`;

// What to do about an error, by its code.
const REMEDIES = {
  ROBOTS_DISALLOWED: "The site's robots.txt forbids this page. A configuration can ignore robots.txt, if you may.",
  CIRCUIT_OPEN: "The host failed several times in a row and rests. See Settings, Hosts, to reset it.",
  DOMAIN_BLOCKED: "The host is blocked for your organisation. See Settings, Hosts.",
  URL_BLOCKED: "The address isn't public. The operator can allow it by the setting FetchAllowed.",
  URL_INVALID: "The address isn't valid. Check it and try again.",
  FETCH_TIMEOUT: "The page took too long. Try again later, or allow more time in a configuration.",
  FETCH_FAILED: "The server couldn't be reached. Check that the address works in a browser, then retry.",
  HTTP_ERROR: "The server answered with an error. Open the page in a browser to see why.",
  PAGE_TOO_LARGE: "The page is larger than this allows.",
  RENDER_TIMEOUT: "The page wasn't ready in time. Wait for another element, or not as long.",
  BROWSER_FAILED: "The browser stopped. Try again.",
  SCRIPT_ERROR: "Correct the script or the selector.",
  PAGES_FAILED: "Some pages failed: see the list of errors.",
  NEEDS_REAUTH: "Connect the marketplace again.",
  PROXY_FAILED: "The proxy doesn't work. Test it in Settings, Proxies.",
};

export const remedyOf = (code) => REMEDIES[code] ?? "";

// The error of a job and what to do about it.
export const JobError = ({ error }) => {
  if (!error) return null;
  const { code, error: text, message } = error;
  return html`<div class="alert bad">
    <p><strong>${text ?? message ?? "The job failed."}</strong> ${remedyOf(code)}</p>
    ${code && html`<p class="small"><code>${code}</code></p>`}
  </div>`;
};
