// A crawl as it goes on: of a page, of several pages, or of a website.
import { html } from "html";
import { api } from "../app/api.js";
import { Time, duration, number, plural, words } from "../app/format.js";
import { Filters, List, useList } from "../app/list.js";
import { useLoad } from "../app/loading.js";
import { Card, Empty, Facts, Failure, Header, Loading, Pending, Progress, Status, WebLink } from "../app/parts.js";
import { href, place } from "../app/router.js";
import { may } from "../app/session.js";
import { Events, JobActions, JobError, JobState, Phases, remedyOf, useJob } from "../app/timeline.js";
import { Chunks } from "./document-text.js";

const ORDERS = { bfs: "near pages first", dfs: "one branch after the other", best_first: "best pages first" };
const REACHES = { host: "this host", domain: "the whole domain", prefix: "pages below the first one" };
const ENDS = { budget: "the number of pages", exhausted: "no page was left", expired: "the time" };
const PAGE_STATES = ["waiting", "open", "fetched", "crawled", "failed", "duplicate"];

// The page's text beside the chunks that searches find.
const PageText = ({ crawl }) => {
  const { data, error, reload } = useLoad(
    async (options) => (crawl.document_id ? api.get(`api/v1/documents/${crawl.document_id}`, {}, options) : null),
    [crawl.document_id],
  );
  const text = crawl.markdown ?? data?.content;
  return html`<div class="grid halves">
    <${Card} title="Text as Markdown" actions=${crawl.document_id && html`<a href=${href("documents", crawl.document_id)}>The document</a>`}>
      ${text ? html`<pre class="source" tabindex="0">${text}</pre>` : html`<${Empty} title="This page has no text." />`}
    </${Card}>
    <${Card} title="Chunks that searches find">
      <${Failure} error=${error} retry=${reload} />
      ${data ? html`<${Chunks} document=${data} />` : !error && html`<${Loading} />`}
    </${Card}>
  </div>`;
};

const Page = ({ crawl }) => html`
  <${Card}>
    <${JobState} job=${crawl} />
    <${Phases} job=${crawl} />
    <${JobError} error=${crawl.error} />
    <${Facts} of=${[
      ["Address", html`<${WebLink} url=${crawl.url} />`],
      ["Answer of the server", crawl.status_code],
      ["Type", crawl.content_type],
      ["Took", crawl.duration_ms != null && duration(crawl.duration_ms)],
      ["Crawled", crawl.crawled_at && html`<${Time} at=${crawl.crawled_at} />`],
      ["Author", crawl.metadata?.author],
      ["Links on the page", crawl.links && number(crawl.links.length)],
      ["Attempts", `${crawl.attempts} of ${crawl.max_attempts}`],
    ]} />
  </${Card}>
  ${crawl.status === "completed" && html`<${PageText} crawl=${crawl} />`}
`;

const PAGE_COLUMNS = [
  { title: "Page", kind: "wide", value: (page) => (page.document_id ? html`<a class="url" href=${href("documents", page.document_id)}>${page.url}</a>` : html`<${WebLink} url=${page.url} />`) },
  { title: "State", value: (page) => html`<${Status} of=${page.status} />` },
  { title: "Answer", kind: "number", value: (page) => page.status_code ?? "–" },
  { title: "Depth", kind: "number", value: (page) => page.depth },
  { title: "Score", kind: "number", value: (page) => number(page.score) },
  { title: "Took", kind: "number", value: (page) => duration(page.fetch_ms) },
  { title: "Found", value: (page) => html`<${Time} at=${page.discovered_at} />` },
  { title: "Error", kind: "wide", value: (page) => page.error && html`<span>${page.error} <span class="small">${remedyOf(page.error_type)}</span></span>` },
];

const Site = ({ crawl, stamp }) => {
  const { status } = place.value.query;
  return html`
    <div class="counters">
      ${[["found", crawl.pages_discovered, ""], ["crawled", crawl.pages_crawled, "crawled"], ["failed", crawl.pages_failed, "failed"]].map(([title, count, state]) =>
        html`<a class="counter" href=${href("crawl", "job", crawl.job_id, { status: state })}><strong>${number(count)}</strong> ${title}</a>`)}
      <div class="counter"><strong>${crawl.current_depth}</strong> links deep</div>
    </div>
    <${Card}>
      <${JobState} job=${crawl} />
      <p><${Progress} value=${crawl.pages_crawled} of=${crawl.max_pages} label="Pages crawled" /> ${number(crawl.pages_crawled)} of at most ${plural(crawl.max_pages, "page")}</p>
      <${JobError} error=${crawl.error} />
      <${Facts} of=${[
        ["First page", html`<${WebLink} url=${crawl.root_url} />`],
        ["Order", ORDERS[crawl.strategy]],
        ["Follows links to", REACHES[crawl.scope]],
        ["Keywords", crawl.keywords.join(", ")],
        ["Ended because of", crawl.end_reason && (ENDS[crawl.end_reason] ?? words(crawl.end_reason))],
        ["Started", crawl.started_at && html`<${Time} at=${crawl.started_at} />`],
        ["Ended", crawl.finished_at && html`<${Time} at=${crawl.finished_at} />`],
      ]} />
    </${Card}>
    <${Card} title="Pages">
      <${Filters} of=${[{ name: "status", title: "State", options: PAGE_STATES }]} />
      <${SitePages} crawl=${crawl} status=${status} stamp=${stamp} />
    </${Card}>
  `;
};

const SitePages = ({ crawl, status, stamp }) => {
  const list = useList(`api/v1/crawl/${crawl.job_id}/pages`, { status }, stamp);
  return html`<${List} list=${list} title="Pages" columns=${PAGE_COLUMNS} keyOf=${(page) => page.url} filters=${["status"]}
    empty=${html`<${Empty} title="No pages yet.">They appear as they are found.</${Empty}>`} />`;
};

const Batch = ({ crawl, stamp }) => html`
  <div class="counters">
    ${[["in all", crawl.total_count], ["completed", crawl.completed_count], ["failed", crawl.failed_count], ["cancelled", crawl.cancelled_count], ["to do", crawl.pending_count]].map(([title, count]) =>
      html`<div class="counter"><strong>${number(count)}</strong> ${title}</div>`)}
  </div>
  <${Card}>
    <${JobState} job=${crawl} />
    <p><${Progress} value=${crawl.total_count - crawl.pending_count} of=${crawl.total_count} label="Pages finished" /></p>
    <${JobError} error=${crawl.error} />
  </${Card}>
  <${Card} title="Pages"><${BatchPages} id=${crawl.job_id} stamp=${stamp} /></${Card}>
`;

const BatchPages = ({ id, stamp }) => {
  const list = useList("api/v1/jobs", { batch: id }, stamp);
  return html`<${List} list=${list} title="Pages" keyOf=${(job) => job.job_id} empty=${html`<${Empty} title="No pages yet." />`} columns=${[
    { title: "Page", kind: "wide", value: (job) => html`<a class="url" href=${href("crawl", "job", job.job_id)}>${job.subject ?? job.job_id}</a>` },
    { title: "State", value: (job) => html`<${JobState} job=${job} />` },
    { title: "Answer", kind: "number", value: (job) => job.status_code ?? "–" },
    { title: "Took", kind: "number", value: (job) => duration(job.duration_ms) },
    { title: "Error", kind: "wide", value: (job) => job.error_summary && html`<span>${job.error_summary} <span class="small">${remedyOf(job.error?.code)}</span></span>` },
  ]} />`;
};

const titleOf = (crawl) => crawl.title || crawl.url || crawl.root_url || `Batch of ${plural(crawl.total_count, "page")}`;

export default ({ id }) => {
  const { data: crawl, error, reload } = useJob(`api/v1/crawl/${id}`);
  const back = { href: href("crawl"), title: "Crawl" };
  if (!crawl) return html`<${Header} title="Crawl" back=${back} /><${Pending} error=${error} retry=${reload} />`;
  const isSite = "root_url" in crawl;
  const isBatch = "total_count" in crawl;
  // The list of pages is read anew when this changes.
  const stamp = isSite ? crawl.pages_crawled + crawl.pages_failed : crawl.pending_count;
  return html`
    <${Header} title=${titleOf(crawl)} back=${back}><${JobActions} job=${crawl} changed=${reload} /></${Header}>
    <${Failure} error=${error} />
    ${isSite ? html`<${Site} crawl=${crawl} stamp=${stamp} />` : isBatch ? html`<${Batch} crawl=${crawl} stamp=${stamp} />` : html`<${Page} crawl=${crawl} />`}
    ${may("view_jobs") && html`<${Card} title="Events"><${Events} path=${`api/v1/crawl/${id}/stream`} round=${crawl.run} onEvent=${reload} /></${Card}>`}
  `;
};
