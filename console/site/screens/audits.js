// Site audits: new ones, the list, and schedules.
import { html } from "html";
import { useState } from "preact/hooks";
import { api } from "../app/api.js";
import { Dangerous, Dialog, report } from "../app/dialog.js";
import { Area, Check, Choice, Folded, Form, Number, Text, given, lines, pairs, useForm, zones } from "../app/form.js";
import { Time, number, plural } from "../app/format.js";
import { Filters, List, useList } from "../app/list.js";
import { Button, Card, Empty, Facts, Header, Note, Tabs } from "../app/parts.js";
import { go, href, place } from "../app/router.js";
import { may } from "../app/session.js";
import { ENDED, JobState } from "../app/timeline.js";
import { Audit } from "./audit.js";

const PLACES = [
  { name: "audits", title: "Audits", href: href("audits") },
  { name: "schedules", title: "Schedules", href: href("audits", "schedules") },
];
const RECIPES = [["seo", "the whole site"], ["hello", "this page only"]];
const BLANK = { url: "", recipe: "seo", max_pages: null, max_external_links: null, max_images: null, include: "", exclude: "", checks_off: "", urls: "", fail_under: null, headers: "", cookie: "", render: false };

const requestOf = ({ url, recipe, max_pages, max_external_links, max_images, include, exclude, checks_off, urls, fail_under, headers, cookie, render }) => ({
  recipe, fail_under,
  ...given({ url: lines(urls).length ? "" : url, cookie }),
  ...(headers && { headers: pairs(headers) }),
  options: given({ render, max_pages, max_external_links, max_images, urls: lines(urls), include: lines(include), exclude: lines(exclude), checks_off: lines(checks_off) }, { render: false }),
});

const Sample = ({ form, names = [] }) => html`
  <${Choice} title="What to audit" ...${form.field("recipe")} options=${RECIPES} />
  <${Folded} title="Options"><div class="fields">
    <${Number} title="Pages at most" ...${form.field("max_pages")} min="1" max="1000" hint="Empty: 100" />
    <${Number} title="Links to other sites at most" ...${form.field("max_external_links")} min="0" />
    <${Number} title="Images at most" ...${form.field("max_images")} min="0" />
    <${Area} title="Only pages like" ...${form.field("include")} rows="2" placeholder="/blog/**" hint="One pattern a line. Empty: all" />
    <${Area} title="Not pages like" ...${form.field("exclude")} rows="2" placeholder="/tag/**" />
    <${Area} title="These pages instead" ...${form.field("urls")} rows="2" hint="One address a line; no links are followed" />
    <${Check} title="Open pages in a browser" ...${form.field("render")} hint="Facts are those after JavaScript, with lab figures" />
    <${Number} title="Score to reach" ...${form.field("fail_under")} min="0" max="100" />
    <${Area} title="Request headers" ...${form.field("headers")} rows="2" placeholder="Authorization: Basic …" hint=${`For staging sites; stored encrypted, never shown.${names.length ? ` Kept if empty: ${names.join(", ")}` : ""}`} />
    <${Text} title="Cookie" ...${form.field("cookie")} placeholder="name=value" autocomplete="off" />
    <${Area} title="Checks that are off" ...${form.field("checks_off")} rows="2" placeholder="social.og" hint="Their ids, as issues name them" />
  </div></${Folded}>`;

const Estimate = ({ of: preview }) => html`<${Note} kind=${preview.is_allowed ? "" : "warning"}>
  ${!preview.is_allowed && html`<p><strong>The site's robots.txt forbids this page.</strong></p>`}
  <${Facts} of=${[
    ["Pages", `${preview.is_lower_bound ? "at least " : ""}${number(preview.estimated_pages)}, by the ${preview.estimated_by}`],
    ["Answer of the start page", preview.status_code],
    ["Seconds between requests", preview.crawl_delay > 0 && number(preview.crawl_delay)],
  ]} />
</${Note}>`;

const NewAudit = () => {
  const form = useForm(BLANK);
  const [preview, setPreview] = useState(null);
  const estimate = async () => {
    form.setError(null);
    try {
      setPreview(await api.post("audits/preview", { url: form.values.url }));
    } catch (error) {
      form.setError(error);
    }
  };
  const send = async (values) => {
    const { audit_id: id } = await api.post("audits", requestOf(values));
    go("audits", "audit", id);
  };
  return html`<${Card} title="New audit" actions=${html`<${Button} act=${estimate} disabled=${!form.values.url}>Estimate first</${Button}>`}>
    <${Form} form=${form} send=${send} submit="Audit">
      <${Text} title="Start page" type="url" ...${form.field("url")} required=${!form.values.urls} placeholder="https://example.com/" />
      <${Sample} form=${form} />
    </${Form}>
    ${preview && html`<${Estimate} of=${preview} />`}
  </${Card}>`;
};

export const scoreText = ({ score, grade }) => (score == null ? "–" : `${number(Math.round(score))} ${grade ?? ""}`);

const changeText = (change) => {
  if (change == null) return "–";
  return `${change > 0 ? "+" : ""}${number(Math.round(change * 10) / 10)}`;
};

const AuditList = () => {
  const { status } = place.value.query;
  const list = useList("audits", { status });
  return html`<${Card} title="Audits" actions=${html`<button type="button" onClick=${list.reload}>Refresh</button>`}>
    <${Filters} of=${[{ name: "status", title: "State", options: ["pending", "running", ...ENDED] }]} />
    <${List} list=${list} title="Audits" keyOf=${(audit) => audit.audit_id} filters=${["status"]}
      empty=${html`<${Empty} title="No audits yet.">Use the form to begin.</${Empty}>`} columns=${[
        { title: "Site", kind: "wide", value: (audit) => html`<a class="url" href=${href("audits", "audit", audit.audit_id)}>${audit.url}</a>` },
        { title: "State", value: (audit) => html`<${JobState} job=${audit} />` },
        { title: "Score", kind: "number", value: scoreText },
        { title: "Change", kind: "number", value: (audit) => changeText(audit.score_change) },
        { title: "Began", value: (audit) => html`<${Time} at=${audit.created_at} />` },
        { title: "Error", kind: "wide", value: (audit) => audit.error_summary ?? "" },
      ]} />
  </${Card}>`;
};

const ScheduleForm = ({ schedule, onDone }) => {
  const form = useForm(schedule ? { ...BLANK, ...schedule, ...schedule.options, headers: "" } : { ...BLANK, schedule_cron: "0 6 * * 1", timezone: "UTC", is_active: true });
  const send = async (values) => {
    const { schedule_cron, timezone, is_active } = values;
    const body = { ...requestOf(values), schedule_cron, timezone, is_active };
    await (schedule ? api.put(`audits/schedules/${schedule.schedule_id}`, body) : api.post("audits/schedules", body));
    report("Saved.");
    onDone();
  };
  return html`<${Form} form=${form} send=${send} submit="Save">
    <${Text} title="Start page" type="url" ...${form.field("url")} required=${!form.values.urls?.length} />
    <${Text} title="Schedule" ...${form.field("schedule_cron")} required hint="A cron line: minute, hour, day, month, weekday. 0 6 * * 1 is every Monday at six." />
    <${Choice} title="Time zone" ...${form.field("timezone")} options=${zones().map((zone) => [zone, zone])} />
    <${Check} title="Runs on its schedule" ...${form.field("is_active")} />
    <${Sample} form=${form} names=${schedule?.headers} />
  </${Form}>`;
};

const Schedules = () => {
  const list = useList("audits/schedules");
  const [shown, setShown] = useState(null);
  const mayRun = may("run_audits", "write");
  const done = () => {
    setShown(null);
    list.reload();
  };
  const remove = (schedule) => async () => {
    await api.remove(`audits/schedules/${schedule.schedule_id}`);
    list.reload();
  };
  return html`<${Card} title="Schedules" actions=${mayRun && html`<button type="button" class="main" onClick=${() => setShown({})}>New schedule</button>`}>
    <${List} list=${list} title="Schedules" keyOf=${(schedule) => schedule.schedule_id}
      empty=${html`<${Empty} title="No schedules yet.">A schedule audits a site again and again and compares each run with the one before.</${Empty}>`}
      columns=${[
        { title: "Site", kind: "wide", value: (schedule) => html`<span class="url">${schedule.url}</span>` },
        { title: "Schedule", value: (schedule) => html`<span><code>${schedule.schedule_cron}</code> (${schedule.timezone})</span>` },
        { title: "Next run", value: (schedule) => (schedule.is_active ? html`<${Time} at=${schedule.next_run_at} />` : "paused") },
        { title: "Last audit", value: (schedule) => (schedule.last_audit_id ? html`<a href=${href("audits", "audit", schedule.last_audit_id)}><${Time} at=${schedule.last_run_at} /></a>` : "none") },
        { title: "Error", kind: "wide", value: (schedule) => schedule.last_error ?? "" },
        { title: "", kind: "actions", value: (schedule) => mayRun && html`<button type="button" onClick=${() => setShown(schedule)}>Edit</button>
          <${Dangerous} title="Delete this schedule?" question="Its audits stay." action="Delete" act=${remove(schedule)} done="Deleted." />` },
      ]} />
    ${shown && html`<${Dialog} title="Schedule" onClose=${() => setShown(null)}><${ScheduleForm} schedule=${shown.schedule_id && shown} onDone=${done} /></${Dialog}>`}
  </${Card}>`;
};

export default ({ parts: [name, id] }) => {
  if (name === "audit") return html`<${Audit} id=${id} />`;
  const isSchedules = name === "schedules";
  return html`
    <${Header} title=${isSchedules ? "Audit schedules" : "Site audits"} />
    <${Tabs} of=${PLACES} chosen=${isSchedules ? "schedules" : "audits"} />
    ${isSchedules ? html`<${Schedules} />` : html`<div class="stack">${may("run_audits", "write") && html`<${NewAudit} />`}<${AuditList} /></div>`}
  `;
};
