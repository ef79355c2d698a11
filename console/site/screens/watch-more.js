// Around watched links: maintenance windows and imports.
import { html } from "html";
import { useState } from "preact/hooks";
import { api } from "../app/api.js";
import { Dangerous, Dialog } from "../app/dialog.js";
import { Area, Choice, Form, Number, Text, useForm, zones } from "../app/form.js";
import { plural } from "../app/format.js";
import { List, useList } from "../app/list.js";
import { useLoad } from "../app/loading.js";
import { Card, Empty, Note } from "../app/parts.js";
import { go } from "../app/router.js";
import { may } from "../app/session.js";
import { targetTitle } from "./watch-form.js";

const MOST_CHOICES = 100;
const REPEATS = [["FREQ=DAILY", "every day"], ["FREQ=WEEKLY", "every week"], ["FREQ=MONTHLY", "every month"]];

const WindowForm = ({ window, onDone }) => {
  const form = useForm(window ?? { name: "", starts_at: "", duration_minutes: 60, timezone: "UTC", recurrence: "", target_ids: [] });
  const { data } = useLoad((options) => api.get("v1/targets", { limit: MOST_CHOICES }, options));
  const choose = (event) => form.set("target_ids", [...event.target.selectedOptions].map((option) => option.value));
  const send = async ({ name, starts_at, duration_minutes, timezone, recurrence, target_ids }) => {
    const body = { name, starts_at, duration_minutes, timezone, target_ids, recurrence: recurrence || null };
    await (window ? api.put(`v1/maintenance-windows/${window.id}`, body) : api.post("v1/maintenance-windows", body));
    onDone();
  };
  const repeats = form.values.recurrence && !REPEATS.some(([rule]) => rule === form.values.recurrence) ? [...REPEATS, [form.values.recurrence, form.values.recurrence]] : REPEATS;
  return html`<${Form} form=${form} send=${send} submit="Save">
    <${Text} title="Name" ...${form.field("name")} required />
    <div class="fields">
      <${Text} title="Begins" type="datetime-local" ...${form.field("starts_at")} required />
      <${Choice} title="Time zone" ...${form.field("timezone")} options=${zones().map((zone) => [zone, zone])} />
      <${Number} title="Minutes" ...${form.field("duration_minutes")} min="1" required />
      <${Choice} title="Repeats" ...${form.field("recurrence")} options=${repeats} none="never" />
    </div>
    <div class="field">
      <label for="window-targets">Links</label>
      <select id="window-targets" multiple size="5" onChange=${choose}>
        ${(data?.items ?? []).map((target) => html`<option value=${target.id} selected=${form.values.target_ids.includes(target.id)}>${targetTitle(target)}</option>`)}
      </select>
      <p class="hint">None chosen: the window is for all links.</p>
    </div>
  </${Form}>`;
};

export const Windows = () => {
  const list = useList("v1/maintenance-windows");
  const [shown, setShown] = useState(null);
  const mayEdit = may("edit_targets", "write");
  const done = () => {
    setShown(null);
    list.reload();
  };
  const remove = (window) => async () => {
    await api.remove(`v1/maintenance-windows/${window.id}`);
    list.reload();
  };
  return html`<${Card} title="Maintenance windows" actions=${mayEdit && html`<button type="button" class="main" onClick=${() => setShown({})}>New window</button>`}>
    <${List} list=${list} title="Maintenance windows" keyOf=${(window) => window.id}
      empty=${html`<${Empty} title="No maintenance is planned.">During a window checks go on, but open no incident and don't count for the uptime.</${Empty}>`}
      columns=${[
        { title: "Name", kind: "wide", value: (window) => window.name },
        { title: "Begins", value: (window) => `${window.starts_at.replace("T", " ")} (${window.timezone})` },
        { title: "Lasts", value: (window) => plural(window.duration_minutes, "minute") },
        { title: "Repeats", value: (window) => REPEATS.find(([rule]) => rule === window.recurrence)?.[1] ?? window.recurrence ?? "never" },
        { title: "Links", value: (window) => (window.target_ids.length ? plural(window.target_ids.length, "link") : "all") },
        { title: "", kind: "actions", value: (window) => mayEdit && html`<button type="button" onClick=${() => setShown(window)}>Edit</button>
          <${Dangerous} title="Delete this window?" question="Checks count again." action="Delete" act=${remove(window)} done="Deleted." />` },
      ]} />
    ${shown && html`<${Dialog} title="Maintenance window" onClose=${() => setShown(null)}><${WindowForm} window=${shown.id && shown} onDone=${done} /></${Dialog}>`}
  </${Card}>`;
};

export const Import = () => {
  const form = useForm({ csv: "", sitemap_url: "" });
  const send = async ({ csv, sitemap_url: sitemap }) => {
    if (Boolean(csv.trim()) === Boolean(sitemap)) throw new Error("Give either lines or the address of a sitemap.");
    const { job_id: id } = await api.post("v1/targets/import", csv.trim() ? { csv } : { sitemap_url: sitemap });
    go("jobs", id);
  };
  if (!may("edit_targets", "write")) return html`<${Note}><p>Your role or key can't add links.</p></${Note}>`;
  return html`<${Card} title="Watch many links at once">
    <${Form} form=${form} send=${send} submit="Import">
      <${Area} title="Lines of a CSV file" ...${form.field("csv")} rows="6" placeholder=${"url,name\nhttps://example.com/,Example"} hint="The first line names the columns" />
      <${Text} title="Or the address of a sitemap" type="url" ...${form.field("sitemap_url")} placeholder="https://example.com/sitemap.xml" />
    </${Form}>
  </${Card}>`;
};
