// Media: images and PDFs of pages, and scripts that run in them, made by a browser.
import { html } from "html";
import { api } from "../app/api.js";
import { PLACES, Recent } from "../app/crawling.js";
import { Area, Check, Choice, Folded, Form, Number, Text, given, useForm } from "../app/form.js";
import { Time, duration, number, words } from "../app/format.js";
import { Card, Empty, Facts, Header, Note, Pending, Tabs, WebLink } from "../app/parts.js";
import { go, href } from "../app/router.js";
import { may } from "../app/session.js";
import { Events, JobActions, JobError, JobState, useJob } from "../app/timeline.js";

const MOST_URLS = 20;
const KINDS = [["screenshot", "Screenshots"], ["pdf", "PDFs"], ["execute_js", "Scripts"]];
const TITLES = { screenshot: "Image", pdf: "PDF", execute_js: "Script" };
const WANTED = [["screenshot", "an image"], ["pdf", "a PDF"], ["execute_js", "the value of a script"]];
const PATHS = { screenshot: "api/v1/screenshot", pdf: "api/v1/pdf", execute_js: "api/v1/execute-js" };
const DEFAULTS = {
  what: "screenshot", urls: "", wait_for: "", wait_seconds: 2, script: "",
  format: "png", full_page: true, selector: "", width: 1280, height: 720, device_scale_factor: 1,
  paper: "A4", margin: 10, landscape: false, print_background: true,
};

const submitted = (values, urls) => {
  const ready = given({ wait_for: values.wait_for });
  const timed = { ...ready, wait_seconds: values.wait_seconds ?? 0 };
  const pages = urls.length === 1 ? { url: urls[0] } : { urls };
  if (values.what === "execute_js") return { ...pages, ...ready, scripts: [values.script] };
  if (values.what === "pdf") {
    const margins = Object.fromEntries(["top", "right", "bottom", "left"].map((side) => [side, values.margin ?? 0]));
    return { ...pages, ...timed, margins, format: values.paper, landscape: values.landscape, print_background: values.print_background };
  }
  const { format, full_page, width, height, device_scale_factor } = values;
  return { ...pages, ...timed, ...given({ selector: values.selector }), format, full_page, device_scale_factor, viewport: { width, height } };
};

const ImageOptions = ({ form }) => html`
  <div class="fields">
    <${Choice} title="Format" ...${form.field("format")} options=${["png", "jpeg", "webp"]} />
    <${Number} title="Width of the window" ...${form.field("width")} min="1" max="3840" />
    <${Number} title="Height of the window" ...${form.field("height")} min="1" max="2160" />
    <${Number} title="Sharpness" ...${form.field("device_scale_factor")} min="1" max="3" step="any" hint="Pixels of the image for one of the page" />
    <${Text} title="Only this element" ...${form.field("selector")} placeholder="main article" hint="A CSS selector" />
  </div>
  <${Check} title="The whole page, not only the window" ...${form.field("full_page")} />`;

const PdfOptions = ({ form }) => html`
  <div class="fields">
    <${Choice} title="Sheets" ...${form.field("paper")} options=${["A4", "letter"]} />
    <${Number} title="Margins, in millimetres" ...${form.field("margin")} min="0" max="100" step="any" />
  </div>
  <${Check} title="On the long side" ...${form.field("landscape")} />
  <${Check} title="Print backgrounds" ...${form.field("print_background")} />`;

const NewMedia = () => {
  const form = useForm(DEFAULTS);
  const { what } = form.values;
  const send = async (values) => {
    const urls = values.urls.split(/\s+/).filter(Boolean);
    const most = what === "screenshot" ? MOST_URLS : 1;
    if (urls.length > most) throw new Error(most === 1 ? "Give only one address." : `At most ${most} addresses at once.`);
    const answer = await api.post(PATHS[what], submitted(values, urls));
    const refused = (answer.jobs ?? []).find((each) => each.error);
    if (refused) throw new Error(`${refused.url} was refused: ${refused.error.error}`);
    go("crawl", "media", answer.job_id ?? answer.jobs[0].job_id);
  };
  return html`<${Card} title="Open a page in a browser">
    <${Form} form=${form} send=${send} submit="Open it">
      <${Choice} title="What you want" ...${form.field("what")} options=${WANTED} />
      ${what === "screenshot"
        ? html`<${Area} title="Addresses" ...${form.field("urls")} rows="2" required placeholder="https://example.com/page" hint=${`One a line, at most ${MOST_URLS}`} />`
        : html`<${Text} title="Address" type="url" ...${form.field("urls")} required placeholder="https://example.com/page" />`}
      ${what === "execute_js" && html`<${Area} title="Script" ...${form.field("script")} rows="3" required placeholder="document.title" hint="The value of its last expression is kept" />`}
      <${Folded} title="Options">
        <div class="fields">
          <${Text} title="Wait for this element" ...${form.field("wait_for")} hint="A CSS selector; without the element it fails" />
          ${what !== "execute_js" && html`<${Number} title="Then wait, in seconds" ...${form.field("wait_seconds")} min="0" max="30" step="any" />`}
        </div>
        ${what === "screenshot" && html`<${ImageOptions} form=${form} />`}
        ${what === "pdf" && html`<${PdfOptions} form=${form} />`}
      </${Folded}>
    </${Form}>
  </${Card}>`;
};

const Start = () => html`
  <${Header} title="Media" />
  <${Tabs} of=${PLACES} chosen="media" />
  <div class="stack">
    ${may("crawl", "write") && html`<${NewMedia} />`}
    ${may("view_jobs") && html`<${Recent} title="Recent media" kinds=${KINDS} to="media" />`}
  </div>
`;

const Outcome = ({ script }) =>
  script.error
    ? html`<li><${JobError} error=${script.error} /></li>`
    : html`<li><pre class="source" tabindex="0">${JSON.stringify(script.value, null, 2)}</pre></li>`;

const Result = ({ media }) => {
  const isImage = media.media_type?.startsWith("image/");
  return html`<${Card} title="Result" actions=${html`<${WebLink} url=${media.download_url} kind="button" download>Download</${WebLink}>`}>
    ${media.is_cut && html`<${Note} kind="warning">The page is too large for one image. This is its upper part.</${Note}>`}
    ${isImage && html`<img class="preview" src=${media.download_url} alt=${`The page ${media.final_url}`} />`}
    ${media.scripts && html`<ol class="plain-list">${media.scripts.map((script) => html`<${Outcome} script=${script} />`)}</ol>`}
    ${!isImage && !media.scripts && html`<p>Download the file to see it.</p>`}
  </${Card}>`;
};

const Page = ({ id }) => {
  const { data: media, error, reload } = useJob(`api/v1/media/${id}`);
  const back = { href: href("crawl", "media"), title: "Media" };
  if (!media) return html`<${Header} title="Media" back=${back} /><${Pending} error=${error} retry=${reload} />`;
  return html`
    <${Header} title=${`${TITLES[media.kind] ?? words(media.kind)} of ${media.url}`} back=${back}><${JobActions} job=${media} changed=${reload} /></${Header}>
    <${Card}>
      <${JobState} job=${media} />
      <${JobError} error=${media.error} />
      <${Facts} of=${[
        ["Address", html`<${WebLink} url=${media.url} />`],
        ["The browser ended at", media.final_url !== media.url && media.final_url && html`<${WebLink} url=${media.final_url} />`],
        ["Answer of the server", media.status_code],
        ["Size", media.bytes != null && `${number(media.bytes / 1000)} KB`],
        ["Requests of the page", media.requests != null && number(media.requests)],
        ["Received and sent", media.transferred_bytes != null && `${number(media.transferred_bytes / 1000)} KB`],
        ["In the browser", media.render_ms != null && duration(media.render_ms)],
        ["Kept until", media.expires_at && html`<${Time} at=${media.expires_at} />`],
      ]} />
    </${Card}>
    ${media.download_url
      ? html`<${Result} media=${media} />`
      : media.status === "completed" && html`<${Empty} title="The file is no longer kept.">Open the page again to make another.</${Empty}>`}
    ${media.console_errors?.length > 0 && html`<${Card} title="Errors that the page logged"><ul>${media.console_errors.map((each) => html`<li>${each}</li>`)}</ul></${Card}>`}
    ${may("view_jobs") && html`<${Card} title="Events"><${Events} path=${`api/v1/jobs/${id}/stream`} onEvent=${reload} /></${Card}>`}
  `;
};

export default ({ id }) => (id ? html`<${Page} id=${id} />` : html`<${Start} />`);
