// One watched link: its state, 90 days, latencies, incidents and checks.
import { html } from "html";
import { useState } from "preact/hooks";
import { address } from "../app/address.js";
import { api } from "../app/api.js";
import { LineChart, Strip } from "../app/charts.js";
import { Dangerous, Dialog, attempt } from "../app/dialog.js";
import { Folded } from "../app/form.js";
import { Time, duration, number, percent, plural, words } from "../app/format.js";
import { List, Table, useList } from "../app/list.js";
import { useLoad, usePoll } from "../app/loading.js";
import { Button, Card, Copyable, Empty, Facts, Failure, Header, Note, Pending, Status, WebLink } from "../app/parts.js";
import { go, href } from "../app/router.js";
import { may } from "../app/session.js";
import { TargetForm, kindTitle, targetTitle } from "./watch-form.js";

const SECONDS = 5;
const DAY_MS = 86_400_000;
const STRIP_DAYS = 90;
const [GOOD_FROM, FAIR_FROM] = [0.999, 0.98]; // as on status pages
const CHARTED = 100;
const MEASURED = new Set(["up", "degraded"]);
const WINDOWS = [["1h", "Last hour"], ["24h", "24 hours"], ["7d", "7 days"], ["30d", "30 days"], ["1y", "One year"]];

// The figures of each of the last 90 UTC days, and only its name where there are none.
const useDays = (target) => {
  const { data, error, reload } = useLoad(
    async (options) => (target ? api.get(`v1/targets/${target.id}/days`, {}, options) : null),
    [target?.id, target?.incident_id, target?.status],
  );
  const today = Math.floor(Date.now() / DAY_MS);
  const known = Object.fromEntries((data?.items ?? []).map((each) => [each.day, each]));
  const days = Array.from({ length: STRIP_DAYS }, (_, index) => {
    const day = new Date((today - STRIP_DAYS + 1 + index) * DAY_MS).toISOString().slice(0, 10);
    return { day, ...known[day] };
  });
  return { days: data && days, error, reload };
};

const toneOf = ({ uptime, degraded_ms: slow }) => {
  if (uptime == null) return "none";
  if (uptime < FAIR_FROM) return "bad";
  return uptime < GOOD_FROM || slow > 0 ? "warning" : "good";
};

const Days = ({ days, error, reload }) => {
  if (!days) return html`<${Pending} error=${error} retry=${reload} />`;
  const parts = days.map((day) => ({ tone: toneOf(day), title: `${day.day}: ${day.uptime == null ? "not known" : `${percent(day.uptime)} up`}` }));
  const bad = plural(days.filter(({ down_ms: down }) => down > 0).length, "day");
  return html`<${Strip} parts=${parts} label=${`The last ${STRIP_DAYS} days: ${bad} with failures`} />
    <p class="small">${STRIP_DAYS} days ago until today (UTC), ${bad} with failures. Grey: not watched, paused or unknown.</p>`;
};

const Uptime = ({ id, stamp }) => {
  const { data, error, reload } = useLoad(
    (options) => Promise.all(WINDOWS.map(([window]) => api.get(`v1/targets/${id}/uptime`, { window }, options))),
    [id, stamp],
  );
  if (!data) return html`<${Pending} error=${error} retry=${reload} />`;
  return html`<${Table} title="Uptime and latency" rows=${data} keyOf=${({ window }) => window} columns=${[
    { title: "Time", value: ({ window }) => WINDOWS.find(([name]) => name === window)[1] },
    { title: "Uptime", kind: "number", value: ({ uptime }) => percent(uptime) },
    { title: "Down", kind: "number", value: ({ down_ms: down }) => duration(down) },
    { title: "Checks", kind: "number", value: ({ checks }) => number(checks) },
    { title: "Median", kind: "number", value: ({ latency }) => duration(latency.p50_ms) },
    { title: "95th percentile", kind: "number", value: ({ latency }) => duration(latency.p95_ms) },
    { title: "99th percentile", kind: "number", value: ({ latency }) => duration(latency.p99_ms) },
  ]} />`;
};

// The median and the 95th percentile of each day, from the first one with checks.
const LatencyByDay = ({ days }) => {
  const first = (days ?? []).findIndex(({ latency }) => latency?.count > 0);
  if (first < 0) return null;
  const shown = days.slice(first);
  const line = (title, name) => ({ title, values: shown.map(({ latency }) => latency?.[name] ?? null) });
  return html`<${LineChart} title="Latency by day" unit="ms" times=${shown.map(({ day }) => Date.parse(day) / 1000)}
    series=${[line("Median", "p50_ms"), line("95th percentile", "p95_ms")]} />`;
};

// The last checks with the median and the 95th percentile of a day.
const Latency = ({ id, stamp }) => {
  const { data, error, reload } = useLoad(async (options) => {
    const [results, day] = await Promise.all([
      api.get(`v1/targets/${id}/results`, { limit: CHARTED }, options),
      api.get(`v1/targets/${id}/uptime`, { window: "24h" }, options),
    ]);
    return { checks: results.items.filter(({ outcome }) => outcome !== "skipped_busy").reverse(), latency: day.latency };
  }, [id, stamp]);
  if (!data) return html`<${Pending} error=${error} retry=${reload} />`;
  if (data.checks.length === 0) return html`<${Empty} title="No checks yet.">The first one comes within a minute.</${Empty}>`;
  const level = (value) => data.checks.map(() => value);
  return html`<${LineChart} title=${`Latency of the last ${plural(data.checks.length, "check")}`} unit="ms"
    times=${data.checks.map((check) => new Date(check.checked_at) / 1000)}
    series=${[
      { title: "Latency", values: data.checks.map((check) => (MEASURED.has(check.outcome) || check.status_code != null ? check.latency_ms : null)) },
      { title: "Median of 24 hours", values: level(data.latency.p50_ms) },
      { title: "95th percentile", values: level(data.latency.p95_ms) },
    ]} />`;
};

const Incidents = ({ id }) => {
  const list = useList(`v1/targets/${id}/incidents`);
  return html`<${List} list=${list} title="Incidents" keyOf=${(incident) => incident.id} empty=${html`<${Empty} title="No incidents." />`} columns=${[
    { title: "State", value: (incident) => html`<${Status} of=${incident.status} />` },
    { title: "Began", value: (incident) => html`<${Time} at=${incident.started_at} />` },
    { title: "Ended", value: (incident) => html`<${Time} at=${incident.ended_at} none="goes on" />` },
    { title: "Lasted", kind: "number", value: (incident) => duration(new Date(incident.ended_at ?? Date.now()) - new Date(incident.started_at)) },
    { title: "What happened", kind: "wide", value: (incident) => html`<${Folded} title=${plural(incident.timeline.length, "step")}>
      <ol>${incident.timeline.map((step) => html`<li><${Time} at=${step.at} /> ${words(step.status)}: ${step.message}</li>`)}</ol>
    </${Folded}>` },
  ]} />`;
};

const Checks = ({ id }) => {
  const list = useList(`v1/targets/${id}/results`);
  return html`<${Card} title="Checks" actions=${html`<button type="button" onClick=${list.reload}>Refresh</button>`}><${List} list=${list} title="Checks" keyOf=${(check) => check.id} empty=${html`<${Empty} title="No checks yet." />`} columns=${[
    { title: "Checked", value: (check) => html`<${Time} at=${check.checked_at} />` },
    { title: "Outcome", value: (check) => html`<${Status} of=${check.outcome} />` },
    { title: "Answer", kind: "number", value: (check) => check.status_code ?? "–" },
    { title: "Took", kind: "number", value: (check) => duration(check.latency_ms) },
    { title: "Late by", kind: "number", value: (check) => duration(check.late_ms) },
    { title: "Error", kind: "wide", value: (check) => check.error ?? (check.in_maintenance ? "in maintenance" : "") },
  ]} /></${Card}>`;
};

const daysLeft = (time) => Math.floor((new Date(time) - Date.now()) / DAY_MS);

const State = ({ target, days }) => html`<${Card}>
  ${target.paced && html`<${Note} kind="warning"><p>${target.paced}</p></${Note}>`}
  <${Facts} of=${[
    ["State", html`<${Status} of=${target.status} />`],
    ["Since", target.status_since && html`<${Time} at=${target.status_since} />`],
    ["Kind", kindTitle(target)],
    ["Address", target.kind === "http" ? html`<${WebLink} url=${target.url} />` : target.kind !== "heartbeat" && target.url],
    ["Expected", target.expected.length > 0 && target.expected.join(", ")],
    ["Last call", target.kind === "heartbeat" && html`<${Time} at=${target.last_called_at} none="not yet" />`],
    ["May be late by", target.kind === "heartbeat" && duration(target.grace_seconds * 1000)],
    ["Last answer", target.last_status_code],
    ["Last error", target.last_error],
    ["Last checked", target.kind !== "heartbeat" && html`<${Time} at=${target.last_checked_at} none="not yet" />`],
    [target.kind === "heartbeat" ? "Late from" : "Next check", target.next_check_at && html`<${Time} at=${target.next_check_at} />`],
    [target.kind === "heartbeat" ? "Called every" : "Checked every", duration(target.effective_interval_seconds * 1000)],
    ["Certificate", target.certificate_not_after && html`<span>${plural(daysLeft(target.certificate_not_after), "day")} left, until <${Time} at=${target.certificate_not_after} /></span>`],
    ["Conditions", target.conditions.length > 0 && html`<ul>${target.conditions.map((each) => html`<li><code>${each}</code></li>`)}</ul>`],
    ["Public", target.public && html`<a href=${href("watch", "status-page")}>on the status page</a>`],
  ]} />
  <${Days} ...${days} />
</${Card}>`;

// The secret address of a heartbeat, which is shown once.
const CallAddress = ({ target }) => {
  const [path, setPath] = useState(null);
  if (!may("edit_targets", "write")) return null;
  const issue = async () => setPath((await api.post(`v1/targets/${target.id}/heartbeat`)).path);
  return html`<${Card} title="Where the job calls">
    ${path
      ? html`<p>Call it by GET or POST when the job has run. It is shown only now.</p>
          <${Copyable} text=${`curl -fsS '${address(path.slice(1))}'`} label="Command" />`
      : html`<p>The address is secret and shown once. A new one ends the former one.</p>
          <${Dangerous} title="Show a new address?" question="The job must call the new one from now on." action="Show" kind="" act=${issue}>New address</${Dangerous}>`}
  </${Card}>`;
};

const Actions = ({ target, changed, edit }) => {
  if (!may("edit_targets", "write")) return null;
  const move = (name, done) => async () => {
    if (await attempt(() => api.post(`v1/targets/${target.id}/${name}`), done)) changed();
  };
  return html`
    ${target.paused
      ? html`<${Button} kind="main" act=${move("resume", "Checks go on.")}>Resume</${Button}>`
      : html`<${Button} act=${move("pause", "Paused.")}>Pause</${Button}>`}
    <button type="button" onClick=${edit}>Edit</button>
    <${Dangerous} title="Stop watching this link?" question="Its checks and incidents are deleted." action="Delete" done="Deleted."
      act=${async () => { await api.remove(`v1/targets/${target.id}`); go("watch"); }} />
  `;
};

export const Target = ({ id }) => {
  const { data: target, error, reload } = usePoll((options) => api.get(`v1/targets/${id}`, {}, options), SECONDS, [id]);
  const days = useDays(target);
  const [isOpen, setOpen] = useState(false);
  const back = { href: href("watch"), title: "Watched links" };
  if (!target) return html`<${Header} title="Link" back=${back} /><${Pending} error=${error} retry=${reload} />`;
  const stamp = target.last_checked_at;
  const saved = () => {
    setOpen(false);
    reload();
  };
  return html`
    <${Header} title=${targetTitle(target)} back=${back}><${Actions} target=${target} changed=${reload} edit=${() => setOpen(true)} /></${Header}>
    <${Failure} error=${error} />
    <${State} target=${target} days=${days} />
    ${target.kind === "heartbeat" && html`<${CallAddress} target=${target} />`}
    ${target.kind !== "heartbeat" && html`<${Card} title="Latency"><${Latency} id=${id} stamp=${stamp} /><${LatencyByDay} days=${days.days} /></${Card}>`}
    <${Card} title="Uptime"><${Uptime} id=${id} stamp=${stamp} /></${Card}>
    <${Card} title="Incidents"><${Incidents} key=${target.incident_id} id=${id} /></${Card}>
    <${Checks} id=${id} />
    ${isOpen && html`<${Dialog} title="Edit the link" onClose=${() => setOpen(false)}><${TargetForm} target=${target} onDone=${saved} /></${Dialog}>`}
  `;
};
