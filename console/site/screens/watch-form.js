// Options of a watched link.
import { html } from "html";
import { api } from "../app/api.js";
import { Area, Check, Choice, Folded, Form, Number, Text, useForm, zones } from "../app/form.js";

const OPTIONS = {
  name: "", interval_seconds: null, method: "GET", failure_threshold: 3, recovery_threshold: 2, degraded_ms: null,
  retry_seconds: null, reminder_minutes: null, quiet_start: "", quiet_end: "", quiet_zone: "UTC",
  conditions: "", certificate_days: "21, 14, 7", watch_content: false, public: false,
};

export const targetTitle = (target) => target.name || target.url;

const textOf = (target) => ({
  ...target,
  conditions: target.conditions.join("\n"),
  certificate_days: target.certificate_days.join(", "),
  quiet_start: target.quiet_hours?.start ?? "",
  quiet_end: target.quiet_hours?.end ?? "",
  quiet_zone: target.quiet_hours?.timezone ?? "UTC",
});

// The options of a form as the API takes them; an empty number or name takes its default.
const optionsOf = (values) => ({
  name: values.name || null,
  interval_seconds: values.interval_seconds,
  method: values.method,
  failure_threshold: values.failure_threshold,
  recovery_threshold: values.recovery_threshold,
  degraded_ms: values.degraded_ms,
  conditions: values.conditions.split("\n").map((each) => each.trim()).filter(Boolean),
  certificate_days: values.certificate_days.split(",").map((each) => parseInt(each, 10)).filter((each) => each > 0),
  watch_content: values.watch_content,
  public: values.public,
  retry_seconds: values.retry_seconds,
  reminder_minutes: values.reminder_minutes,
  quiet_hours: values.quiet_start || values.quiet_end
    ? { start: values.quiet_start, end: values.quiet_end, timezone: values.quiet_zone } : null,
});

// Add a link, or change the options of one.
export const TargetForm = ({ target, onDone }) => {
  const form = useForm(target ? textOf(target) : { ...OPTIONS, url: "" });
  const send = async (values) =>
    onDone(target ? await api.patch(`v1/targets/${target.id}`, optionsOf(values)) : await api.post("v1/targets", { ...optionsOf(values), url: values.url }));
  return html`<${Form} form=${form} send=${send} submit=${target ? "Save" : "Watch"}>
    ${!target && html`<${Text} title="Address" type="url" ...${form.field("url")} required placeholder="https://example.com/" />`}
    <${Text} title="Name" ...${form.field("name")} hint="Shown instead of the address" />
    <${Area} title="Conditions of a good answer" ...${form.field("conditions")} rows="2" placeholder="status == 200" hint="One a line. Empty: any status below 400" />
    <${Folded} title="Options">
      <div class="fields">
        <${Number} title="Seconds between two checks" ...${form.field("interval_seconds")} min="1" hint="Empty: the installation's default" />
        <${Choice} title="Method" ...${form.field("method")} options=${[["GET", "GET"], ["HEAD", "HEAD: without the body"]]} />
        <${Number} title="Failures until it is down" ...${form.field("failure_threshold")} min="1" required />
        <${Number} title="Successes until it is up" ...${form.field("recovery_threshold")} min="1" required />
        <${Number} title="Seconds to the next check while a failure isn't confirmed" ...${form.field("retry_seconds")} min="60" hint="Empty: the interval. Needs an interval of at least 300" />
        <${Number} title="Remind after minutes" ...${form.field("reminder_minutes")} min="5" hint="Empty: never" />
        <${Text} title="Quiet hours from" type="time" ...${form.field("quiet_start")} hint="Nothing is reported in them" />
        <${Text} title="Quiet hours until" type="time" ...${form.field("quiet_end")} />
        <${Choice} title="Time zone of quiet hours" ...${form.field("quiet_zone")} options=${zones().map((each) => [each, each])} />
        <${Number} title="Slow from, in milliseconds" ...${form.field("degraded_ms")} min="1" max="60000" hint="Empty: never slow" />
        <${Text} title="Warn before the certificate ends" ...${form.field("certificate_days")} hint="Days, comma-separated" />
      </div>
      <${Check} title="Report changes of the page's content" ...${form.field("watch_content")} />
      <${Check} title="Show on the public status page" ...${form.field("public")} />
    </${Folded}>
  </${Form}>`;
};
