// Webhooks with the log of their deliveries.
import { html } from "html";
import { useState } from "preact/hooks";
import { api } from "../app/api.js";
import { Dangerous, Dialog, attempt } from "../app/dialog.js";
import { Area, Check, Choice, Form, Text, lines, pairs, useForm } from "../app/form.js";
import { Time, number, words } from "../app/format.js";
import { List, useList } from "../app/list.js";
import { useLoad } from "../app/loading.js";
import { Button, Card, Copyable, Empty, Facts, Note, Pending, Status } from "../app/parts.js";
import { go, href } from "../app/router.js";
import { may } from "../app/session.js";

const KINDS = [["webhook", "JSON, for programs"], ["slack", "Slack"], ["discord", "Discord"], ["teams", "Microsoft Teams"], ["ntfy", "ntfy"]];
const kindText = (kind) => KINDS.find(([key]) => key === kind)?.[1] ?? kind;

const EndpointForm = ({ endpoint, onDone }) => {
  const form = useForm({
    name: endpoint?.name ?? "", url: endpoint?.url ?? "", events: (endpoint?.events ?? ["job.completed", "job.failed"]).join("\n"),
    kind: endpoint?.kind ?? "webhook", headers: "", is_active: endpoint?.is_active ?? true,
  });
  const send = async (values) => {
    const body = { name: values.name, url: values.url, kind: values.kind, events: lines(values.events), is_active: values.is_active };
    if (values.headers) body.headers = pairs(values.headers);
    onDone(endpoint ? await api.put(`api/v1/webhooks/${endpoint.endpoint_id}`, body) : await api.post("api/v1/webhooks", body));
  };
  return html`<${Form} form=${form} send=${send} submit="Save">
    <${Text} title="Name" ...${form.field("name")} required maxlength="100" />
    <${Choice} title="Format" ...${form.field("kind")} options=${KINDS} />
    <${Text} title="Address" ...${form.field("url")} type="url" required placeholder="https://" hint=${form.values.kind === "ntfy" ? "The topic's address, such as https://ntfy.sh/my-topic" : undefined} />
    <${Area} title="Events" ...${form.field("events")} rows="3" hint="One a line, such as job.completed, job.failed or target.down" />
    <${Area} title="Headers" ...${form.field("headers")} rows="2" hint=${`One a line: Name: value.${endpoint?.header_names.length ? " Leave empty to keep the present ones." : ""}`} />
    <${Check} title="Active" ...${form.field("is_active")} />
  </${Form}>`;
};

const Secret = ({ secret, onClose }) => html`<${Dialog} title="The signing secret" onClose=${onClose}>
  <${Note} kind="warning">It is shown only now. Your receiver needs it to check signatures.</${Note}>
  <${Copyable} text=${secret} label="Signing secret" />
</${Dialog}>`;

const EndpointList = () => {
  const list = useList("api/v1/webhooks");
  const [isOpen, setOpen] = useState(false);
  const [issued, setIssued] = useState(null);
  const done = (saved) => {
    setOpen(false);
    setIssued(saved);
    list.reload();
  };
  return html`<${Card} title="Webhooks" actions=${may("manage_webhooks", "write") && html`<button type="button" class="main" onClick=${() => setOpen(true)}>New webhook</button>`}>
    <${List} list=${list} title="Webhooks" keyOf=${(each) => each.endpoint_id} empty=${html`<${Empty} title="No webhooks yet.">A webhook sends the ends of jobs to your own server.</${Empty}>`} columns=${[
      { title: "Name", kind: "wide", value: (each) => html`<a href=${href("settings", "webhooks", each.endpoint_id)}>${each.name}</a>` },
      { title: "Address", kind: "wide", value: (each) => html`<span class="url">${each.url}</span>` },
      { title: "Format", value: (each) => kindText(each.kind) },
      { title: "Events", value: (each) => each.events.join(", ") },
      { title: "State", value: (each) => html`<${Status} of=${each.is_active ? "active" : "disabled"} />` },
    ]} />
    ${isOpen && html`<${Dialog} title="New webhook" onClose=${() => setOpen(false)}><${EndpointForm} onDone=${done} /></${Dialog}>`}
    ${issued && html`<${Secret} secret=${issued.secret} onClose=${() => setIssued(null)} />`}
  </${Card}>`;
};

const Delivery = ({ delivery, onClose }) => html`<${Dialog} title=${`Delivery of ${delivery.event}`} onClose=${onClose}>
  <${Facts} of=${[
    ["State", html`<${Status} of=${delivery.status} />`],
    ["Attempts", `${delivery.attempts} of ${delivery.max_attempts}`],
    ["Last attempt", html`<${Time} at=${delivery.last_attempt_at} />`],
    ["Next attempt", delivery.next_attempt_at && html`<${Time} at=${delivery.next_attempt_at} />`],
    ["Answer", delivery.response_status],
    ["Error", delivery.error],
    ["About", delivery.job_id && html`<a href=${href("jobs", delivery.job_id)}>${words(delivery.job_type)}</a>`],
  ]} />
  <h3>Sent</h3><pre class="source" tabindex="0">${JSON.stringify(delivery.payload, null, 2)}</pre>
  ${delivery.response_body && html`<h3>Answer of the receiver</h3><pre class="source" tabindex="0">${delivery.response_body}</pre>`}
</${Dialog}>`;

const EndpointPage = ({ id }) => {
  const path = `api/v1/webhooks/${id}`;
  const { data: endpoint, error, reload } = useLoad((options) => api.get(path, {}, options), [id]);
  const list = useList(`${path}/deliveries`);
  const [isOpen, setOpen] = useState(false);
  const [issued, setIssued] = useState(null);
  const [shown, setShown] = useState(null);
  const mayChange = may("manage_webhooks", "write");
  if (!endpoint) return html`<${Pending} error=${error} retry=${reload} />`;
  const send = (work, done) => async () => (await attempt(work, done)) && list.reload();
  return html`
    <p class="back"><a href=${href("settings", "webhooks")}>‹ Webhooks</a></p>
    <${Card} title=${endpoint.name} actions=${mayChange && html`
      <${Button} act=${send(() => api.post(`${path}/test`), "A test event is on its way.")}>Send a test</${Button}>
      <button type="button" onClick=${() => setOpen(true)}>Edit</button>
      <${Dangerous} title="Replace the signing secret?" question="Both secrets sign for a while, so that your receiver can change over." action="Replace" kind=""
        act=${async () => { setIssued(await api.post(`${path}/rotate`)); reload(); }}>New secret</${Dangerous}>
      <${Dangerous} title="Delete this webhook?" question="Nothing more is sent to it. Its log ends." action="Delete" done="Deleted."
        act=${async () => { await api.remove(path); go("settings", "webhooks"); }} />`}>
      <${Facts} of=${[
        ["Format", kindText(endpoint.kind)],
        ["Address", html`<span class="url">${endpoint.url}</span>`],
        ["Events", endpoint.events.join(", ")],
        ["Headers", endpoint.header_names.join(", ")],
        ["State", html`<${Status} of=${endpoint.is_active ? "active" : "disabled"} />`],
        ["Disabled because", endpoint.disabled_reason],
        ["Former secret valid until", endpoint.old_secret_until && html`<${Time} at=${endpoint.old_secret_until} />`],
      ]} />
    </${Card}>
    <${Card} title="Deliveries of 30 days" actions=${html`<button type="button" onClick=${list.reload}>Refresh</button>`}>
      <${List} list=${list} title="Deliveries" keyOf=${(each) => each.delivery_id} empty=${html`<${Empty} title="Nothing was delivered yet.">Send a test, or wait for a job's end.</${Empty}>`} columns=${[
        { title: "When", value: (each) => html`<button type="button" class="plain" onClick=${() => setShown(each)}><${Time} at=${each.created_at} /></button>` },
        { title: "Event", value: (each) => each.event },
        { title: "State", value: (each) => html`<${Status} of=${each.status} />` },
        { title: "Answer", kind: "number", value: (each) => each.response_status ?? "–" },
        { title: "Attempts", kind: "number", value: (each) => `${number(each.attempts)} of ${each.max_attempts}` },
        { title: "Next attempt", value: (each) => html`<${Time} at=${each.next_attempt_at} />` },
        { title: "", kind: "actions", value: (each) => mayChange && html`<${Button} act=${send(() => api.post(`${path}/deliveries/${each.delivery_id}/redeliver`), "It is sent again, under the same event id.")}>Send again</${Button}>` },
      ]} />
    </${Card}>
    ${isOpen && html`<${Dialog} title="Edit the webhook" onClose=${() => setOpen(false)}><${EndpointForm} endpoint=${endpoint} onDone=${() => { setOpen(false); reload(); }} /></${Dialog}>`}
    ${issued && html`<${Secret} secret=${issued.secret} onClose=${() => setIssued(null)} />`}
    ${shown && html`<${Delivery} delivery=${shown} onClose=${() => setShown(null)} />`}
  `;
};

export const Webhooks = ({ id }) => (id ? html`<${EndpointPage} id=${id} />` : html`<${EndpointList} />`);
