// Sources: crawls on a schedule, with what each run found changed.
import { html } from "html";
import { useState } from "preact/hooks";
import { api } from "../app/api.js";
import { PLACES, useChoices } from "../app/crawling.js";
import { Dangerous, Dialog, attempt } from "../app/dialog.js";
import { Check, Choice, Form, Text, given, useForm, zones } from "../app/form.js";
import { Time, number, words } from "../app/format.js";
import { List, Table, useList } from "../app/list.js";
import { useLoad } from "../app/loading.js";
import { Button, Card, Empty, Facts, Failure, Header, Loading, Pending, Status, Tabs, WebLink } from "../app/parts.js";
import { go, href } from "../app/router.js";
import { may } from "../app/session.js";

const EMPTY = { name: "", url_pattern: "", schedule_cron: "", timezone: "UTC", crawl_config_id: "", collection_id: "", is_active: true };

const SourceForm = ({ source, onDone }) => {
  const form = useForm({ ...EMPTY, ...given(source ?? {}) });
  const { collections, configs } = useChoices();
  const send = async (values) => {
    const body = given(Object.fromEntries(Object.keys(EMPTY).map((name) => [name, values[name]])));
    const saved = source ? await api.put(`api/v1/sources/${source.source_id}`, body) : await api.post("api/v1/sources", body);
    onDone(saved);
  };
  return html`<${Form} form=${form} send=${send} submit="Save">
    <${Text} title="Name" ...${form.field("name")} required maxlength="100" />
    <${Text} title="Address or pattern" ...${form.field("url_pattern")} required hint="Such as https://example.com/blog/*" />
    <${Text} title="Schedule" ...${form.field("schedule_cron")} placeholder="0 6 * * *" hint="A cron line: minute, hour, day, month, weekday. Empty: only when started by hand." />
    <${Choice} title="Time zone" ...${form.field("timezone")} options=${zones().map((zone) => [zone, zone])} />
    <${Choice} title="Configuration" ...${form.field("crawl_config_id")} options=${configs} none="The default" />
    <${Choice} title="Collection" ...${form.field("collection_id")} options=${collections} none="None" />
    <${Check} title="Runs on its schedule" ...${form.field("is_active")} />
  </${Form}>`;
};

const SourceList = () => {
  const list = useList("api/v1/sources");
  const [isOpen, setOpen] = useState(false);
  const mayChange = may("configure_crawls", "write");
  const done = (saved) => {
    setOpen(false);
    go("crawl", "sources", saved.source_id);
  };
  return html`
    <${Header} title="Sources">${mayChange && html`<button type="button" class="main" onClick=${() => setOpen(true)}>New source</button>`}</${Header}>
    <${Tabs} of=${PLACES} chosen="sources" />
    <${List} list=${list} title="Sources" keyOf=${(source) => source.source_id}
      empty=${html`<${Empty} title="No sources yet.">A source crawls the same pages again on a schedule and lists what changed.</${Empty}>`}
      columns=${[
        { title: "Name", kind: "wide", value: (source) => html`<a href=${href("crawl", "sources", source.source_id)}>${source.name}</a>` },
        { title: "Pages", kind: "wide", value: (source) => html`<span class="url">${source.url_pattern}</span>` },
        { title: "Schedule", value: (source) => (source.schedule_cron ? html`<code>${source.schedule_cron}</code>` : "by hand") },
        { title: "Next run", value: (source) => html`<${Time} at=${source.next_run_at} />` },
        { title: "Last crawled", value: (source) => html`<${Time} at=${source.last_crawled_at} none="never" />` },
        { title: "State", value: (source) => html`<${Status} of=${source.is_active ? "active" : "paused"} />` },
      ]} />
    ${isOpen && html`<${Dialog} title="New source" onClose=${() => setOpen(false)}><${SourceForm} onDone=${done} /></${Dialog}>`}
  `;
};

const Run = ({ sourceId, runId, onClose }) => {
  const { data: run, error, reload } = useLoad((options) => api.get(`api/v1/sources/${sourceId}/runs/${runId}`, {}, options), [runId]);
  return html`<${Dialog} title="Pages of this run" onClose=${onClose}>
    <${Failure} error=${error} retry=${reload} />
    ${!run && !error && html`<${Loading} />`}
    ${run && (run.pages.length === 0
      ? html`<${Empty} title="No page was new, changed, gone or failed." />`
      : html`<${Table} title="Pages" rows=${run.pages} keyOf=${(page) => page.url} columns=${[
          { title: "Outcome", value: (page) => html`<${Status} of=${page.outcome} />` },
          { title: "Page", kind: "wide", value: (page) => (page.document_id ? html`<a class="url" href=${href("documents", page.document_id)}>${page.url}</a>` : html`<${WebLink} url=${page.url} />`) },
          { title: "Error", value: (page) => page.error ?? "" },
        ]} />`)}
  </${Dialog}>`;
};

const SourcePage = ({ id }) => {
  const { data: source, error, reload } = useLoad((options) => api.get(`api/v1/sources/${id}`, {}, options), [id]);
  const runs = useList(`api/v1/sources/${id}/runs`);
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState(null);
  const back = { href: href("crawl", "sources"), title: "Sources" };
  if (!source) return html`<${Header} title="Source" back=${back} /><${Pending} error=${error} retry=${reload} />`;
  const start = async () => {
    if (await attempt(() => api.post(`api/v1/sources/${id}/trigger`), "The run has begun.")) runs.reload();
  };
  return html`
    <${Header} title=${source.name} back=${back}>
      ${may("crawl", "write") && html`<${Button} kind="main" act=${start}>Run now</${Button}>`}
      ${may("configure_crawls", "write") && html`<button type="button" onClick=${() => setOpen(true)}>Edit</button>
        <${Dangerous} title="Delete this source?" question="Its schedule and webhooks end. Documents stay." action="Delete"
          act=${async () => { await api.remove(`api/v1/sources/${id}`); go("crawl", "sources"); }} done="Deleted." />`}
    </${Header}>
    <${Card}>
      <${Facts} of=${[
        ["Pages", html`<span class="url">${source.url_pattern}</span>`],
        ["Schedule", source.schedule_cron ? html`<span><code>${source.schedule_cron}</code> (${source.timezone})</span>` : "by hand"],
        ["Next run", source.next_run_at && html`<${Time} at=${source.next_run_at} />`],
        ["Last crawled", html`<${Time} at=${source.last_crawled_at} none="never" />`],
        ["State", html`<${Status} of=${source.is_active ? "active" : "paused"} />`],
      ]} />
    </${Card}>
    <${Card} title="Runs" actions=${html`<button type="button" onClick=${runs.reload}>Refresh</button>`}>
      <${List} list=${runs} title="Runs" keyOf=${(run) => run.run_id} empty=${html`<${Empty} title="No runs yet.">Start one by “Run now”.</${Empty}>`} columns=${[
        { title: "Started", value: (run) => html`<button type="button" class="plain" onClick=${() => setShown(run.run_id)}><${Time} at=${run.started_at} /></button>` },
        { title: "State", value: (run) => html`<${Status} of=${run.status} />` },
        { title: "Started by", value: (run) => words(run.trigger) },
        ...["new", "changed", "unchanged", "gone", "failed"].map((name) => ({ title: words(name), kind: "number", value: (run) => number(run[name]) })),
        { title: "Error", kind: "wide", value: (run) => run.error ?? "" },
      ]} />
    </${Card}>
    ${isOpen && html`<${Dialog} title="Edit the source" onClose=${() => setOpen(false)}><${SourceForm} source=${source} onDone=${() => { setOpen(false); reload(); }} /></${Dialog}>`}
    ${shown && html`<${Run} sourceId=${id} runId=${shown} onClose=${() => setShown(null)} />`}
  `;
};

export default ({ id }) => (id ? html`<${SourcePage} id=${id} />` : html`<${SourceList} />`);
