// Options of a watched link.
import { html } from "html";
import { api } from "../app/api.js";
import { Area, Check, Choice, Folded, Form, Number, Text, pairs, rows, useForm, zones } from "../app/form.js";

const KINDS = [["http", "Web address"], ["tcp", "Port: connect"], ["dns", "DNS record"], ["heartbeat", "Calls of a job"]];
export const kindTitle = (target) => KINDS.find(([kind]) => kind === target.kind)?.[1];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const RECORD_TYPES = ["A", "AAAA", "CNAME", "MX", "TXT", "NS"];
const OPTIONS = {
  name: "", interval_seconds: null, method: "GET", failure_threshold: null, recovery_threshold: null, degraded_ms: null,
  retry_seconds: null, reminder_minutes: null, quiet_start: "", quiet_end: "", quiet_zone: "UTC",
  conditions: "", certificate_days: "21, 14, 7", watch_content: false, public: false, expected: "", grace_seconds: 0,
};
const REQUEST = { headers: "", body: "", username: "", password: "", is_removed: false };

export const targetTitle = (target) => target.name || target.url;

const textOf = (target) => ({
  ...target,
  ...REQUEST,
  conditions: target.conditions.join("\n"),
  certificate_days: target.certificate_days.join(", "),
  expected: target.expected.join("\n"),
  quiet_start: target.quiet_hours?.start ?? "",
  quiet_end: target.quiet_hours?.end ?? "",
  quiet_zone: target.quiet_hours?.timezone ?? "UTC",
});

// The headers, body and credentials of a form, if any was entered or all are removed.
const requestOf = ({ headers, body, username, password, is_removed: isRemoved }) => {
  if (isRemoved) return { request: null };
  if (!headers && !body && !username) return {};
  return { request: { headers: pairs(headers), body: body || null, credentials: username ? { username, password } : null } };
};

const OF_KIND = {
  http: (values) => ({
    method: values.method, conditions: rows(values.conditions), watch_content: values.watch_content,
    degraded_ms: values.degraded_ms, retry_seconds: values.retry_seconds,
    certificate_days: values.certificate_days.split(",").map((each) => parseInt(each, 10)).filter((each) => each > 0),
    ...requestOf(values),
  }),
  tcp: (values) => ({ degraded_ms: values.degraded_ms, retry_seconds: values.retry_seconds }),
  dns: (values) => ({ degraded_ms: values.degraded_ms, retry_seconds: values.retry_seconds, expected: rows(values.expected) }),
  heartbeat: (values) => ({ grace_seconds: values.grace_seconds ?? 0 }),
};

// The options of a form as the API takes them; an empty number or name takes its default.
const optionsOf = (values) => ({
  ...OF_KIND[values.kind](values),
  name: values.name || null,
  interval_seconds: values.interval_seconds,
  ...(values.failure_threshold && { failure_threshold: values.failure_threshold }),
  ...(values.recovery_threshold && { recovery_threshold: values.recovery_threshold }),
  public: values.public,
  reminder_minutes: values.reminder_minutes,
  quiet_hours: values.quiet_start || values.quiet_end
    ? { start: values.quiet_start, end: values.quiet_end, timezone: values.quiet_zone } : null,
});

const subjectOf = ({ kind, url, host, port, record_type: recordType }) =>
  ({ http: { url }, tcp: { kind, host, port }, dns: { kind, host, record_type: recordType }, heartbeat: { kind } })[kind];

const Subject = ({ form }) => {
  const { kind } = form.values;
  return html`
    <${Choice} title="What is watched" ...${form.field("kind")} options=${KINDS} />
    ${kind === "http" && html`<${Text} title="Address" type="url" ...${form.field("url")} required placeholder="https://example.com/" />`}
    ${(kind === "tcp" || kind === "dns") && html`<div class="fields">
      <${Text} title=${kind === "tcp" ? "Host" : "Name"} ...${form.field("host")} required placeholder="example.com" />
      ${kind === "tcp"
        ? html`<${Number} title="Port" ...${form.field("port")} min="1" max="65535" required />`
        : html`<${Choice} title="Type of the record" ...${form.field("record_type")} options=${RECORD_TYPES} />`}
    </div>`}`;
};

// Headers, body and credentials. They are never shown again, so a form begins without them.
const Request = ({ form, kept }) => html`<${Folded} title="Headers, body and credentials">
  <p class="hint">They are encrypted and never shown again.${kept && ` Kept unless you enter others: ${describe(kept)}.`}</p>
  <${Area} title="Headers" ...${form.field("headers")} rows="2" placeholder="X-Key: value" hint="One a line" />
  <${Area} title="Body" ...${form.field("body")} rows="2" hint="Not for GET and HEAD" />
  <div class="fields">
    <${Text} title="User name" ...${form.field("username")} autocomplete="off" />
    <${Text} title="Password" type="password" ...${form.field("password")} autocomplete="new-password" />
  </div>
  ${kept && html`<${Check} title="Remove all of them" ...${form.field("is_removed")} />`}
</${Folded}>`;

const describe = ({ header_names: names, has_body: hasBody, has_credentials: hasCredentials }) =>
  [names.length && `headers ${names.join(", ")}`, hasBody && "a body", hasCredentials && "a password"].filter(Boolean).join("; ");

// Add a link, or change the options of one.
export const TargetForm = ({ target, onDone }) => {
  const form = useForm(target ? textOf(target) : { ...OPTIONS, ...REQUEST, kind: "http", url: "", host: "", port: null, record_type: "A" });
  const { kind } = form.values;
  const [isWeb, isBeat] = [kind === "http", kind === "heartbeat"];
  const send = async (values) =>
    onDone(target ? await api.patch(`v1/targets/${target.id}`, optionsOf(values)) : await api.post("v1/targets", { ...optionsOf(values), ...subjectOf(values) }));
  return html`<${Form} form=${form} send=${send} submit=${target ? "Save" : "Watch"}>
    ${!target && html`<${Subject} form=${form} />`}
    <${Text} title="Name" ...${form.field("name")} required=${isBeat} hint=${isBeat ? "Of the job that calls" : "Shown instead of the address"} />
    ${isWeb && html`<${Area} title="Conditions of a good answer" ...${form.field("conditions")} rows="2" placeholder="status == 200" hint="One a line. Empty: any status below 400" />`}
    ${kind === "dns" && html`<${Area} title="Expected values" ...${form.field("expected")} rows="2" placeholder="10 mx.example.com" hint="One a line; all must be there. Empty: any answer" />`}
    ${isBeat && html`<div class="fields">
      <${Number} title="Seconds between two calls" ...${form.field("interval_seconds")} min="60" hint="Empty: a day" />
      <${Number} title="Seconds a call may be late" ...${form.field("grace_seconds")} min="0" max="86400" required />
    </div>`}
    ${isWeb && html`<${Request} form=${form} kept=${target?.request} />`}
    <${Folded} title="Options">
      <div class="fields">
        ${!isBeat && html`<${Number} title="Seconds between two checks" ...${form.field("interval_seconds")} min="1" hint="Empty: the installation's default" />`}
        ${isWeb && html`<${Choice} title="Method" ...${form.field("method")} options=${METHODS} />`}
        <${Number} title="Failures until it is down" ...${form.field("failure_threshold")} min="1" hint=${isBeat ? "Empty: 1" : "Empty: 3"} />
        <${Number} title="Successes until it is up" ...${form.field("recovery_threshold")} min="1" hint=${isBeat ? "Empty: 1" : "Empty: 2"} />
        ${!isBeat && html`<${Number} title="Seconds to the next check while a failure isn't confirmed" ...${form.field("retry_seconds")} min="60" hint="Empty: the interval. Needs an interval of at least 300" />`}
        <${Number} title="Remind after minutes" ...${form.field("reminder_minutes")} min="5" hint="Empty: never" />
        <${Text} title="Quiet hours from" type="time" ...${form.field("quiet_start")} hint="Nothing is reported in them" />
        <${Text} title="Quiet hours until" type="time" ...${form.field("quiet_end")} />
        <${Choice} title="Time zone of quiet hours" ...${form.field("quiet_zone")} options=${zones().map((each) => [each, each])} />
        ${!isBeat && html`<${Number} title="Slow from, in milliseconds" ...${form.field("degraded_ms")} min="1" max="60000" hint="Empty: never slow" />`}
        ${isWeb && html`<${Text} title="Warn before the certificate ends" ...${form.field("certificate_days")} hint="Days, comma-separated" />`}
      </div>
      ${isWeb && html`<${Check} title="Report changes of the page's content" ...${form.field("watch_content")} />`}
      <${Check} title="Show on the public status page" ...${form.field("public")} />
    </${Folded}>
  </${Form}>`;
};
