// Crawls: the form and recent crawls; loads the screens of its other places.
import { html } from "html";
import { useEffect, useState } from "preact/hooks";
import { api } from "../app/api.js";
import { PLACES, Recent, useChoices } from "../app/crawling.js";
import { Area, Check, Choice, Folded, Form, Number, Text, given, lines, pairs, useForm } from "../app/form.js";
import { Card, Failure, Header, Loading, Note, Tabs } from "../app/parts.js";
import { Rendering, renderingOf } from "../app/rendering.js";
import { go } from "../app/router.js";
import { may } from "../app/session.js";

const MOST_URLS = 100;
const DEFAULTS = { strategy: "bfs", max_depth: 2, max_pages: 100, score_threshold: 0.4, scope: "host", priority: "normal", force: false };
const STRATEGIES = [["bfs", "breadth first: near pages before far ones"], ["dfs", "depth first: one branch after the other"], ["best_first", "best first: pages that match the keywords"]];
const SCOPES = [["host", "this host only"], ["domain", "its whole domain"], ["prefix", "below this address only"]];

const Options = ({ form, isSite }) => {
  const { collections, configs, proxies } = useChoices();
  return html`<${Folded} title="Options">
    ${isSite && html`<div class="fields">
      <${Choice} title="Order" ...${form.field("strategy")} options=${STRATEGIES} />
      <${Choice} title="Follow links to" ...${form.field("scope")} options=${SCOPES} />
      <${Number} title="Links to follow in a row" ...${form.field("max_depth")} min="0" max="100" />
      <${Number} title="Pages at most" ...${form.field("max_pages")} min="1" max="1000" />
      <${Text} title="Keywords" ...${form.field("keywords")} hint="Comma-separated; pages that match are crawled first or only" />
      <${Number} title="Least score of a page" ...${form.field("score_threshold")} min="0" max="1" step="0.05" />
      <${Area} title="Only addresses like" ...${form.field("include")} rows="2" hint="Patterns, one a line, such as /blog/*" />
      <${Area} title="Never addresses like" ...${form.field("exclude")} rows="2" />
    </div>`}
    <div class="fields">
      <${Choice} title="Collection" ...${form.field("collection_id")} options=${collections} none="None" />
      <${Text} title="Tags" ...${form.field("tags")} hint="Comma-separated" />
      <${Choice} title="Configuration" ...${form.field("config_id")} options=${configs} none="The default" />
      <${Choice} title="Proxies" ...${form.field("proxy_config_id")} options=${proxies} none="None" />
      <${Choice} title="Priority" ...${form.field("priority")} options=${["critical", "high", "normal", "low"]} />
    </div>
    ${!isSite && html`<${Rendering} form=${form} none="As the configuration says" />`}
    <${Check} title="Fetch again, even if there is a recent result" ...${form.field("force")} />
    <${Folded} title="Webhook for this crawl">
      <${Text} title="Address" type="url" ...${form.field("webhook_url")} placeholder="https://" />
      <${Area} title="Headers" ...${form.field("webhook_headers")} rows="2" hint="One a line: Name: value" />
    </${Folded}>
  </${Folded}>`;
};

const submitted = (values, isSite, urls) => {
  const common = given(
    {
      ...values, urls: null, url: null, strategy: null, scope: null, max_depth: null, max_pages: null, keywords: null,
      score_threshold: null, include: null, exclude: null, tags: lines(values.tags), webhook_headers: null,
      render: null, wait_for: null, wait_seconds: null,
    },
    DEFAULTS,
  );
  if (values.webhook_headers) common.webhook_headers = pairs(values.webhook_headers);
  if (!isSite) return urls.length === 1 ? ["api/v1/crawl", { ...common, ...renderingOf(values), url: urls[0] }] : ["api/v1/crawl/batch", { ...common, urls }];
  const site = given(
    {
      strategy: values.strategy, scope: values.scope, max_depth: values.max_depth, max_pages: values.max_pages,
      keywords: lines(values.keywords), score_threshold: values.score_threshold, include: lines(values.include), exclude: lines(values.exclude),
    },
    DEFAULTS,
  );
  return ["api/v1/crawl/deep", { ...common, ...site, url: urls[0] }];
};

const NewCrawl = () => {
  const form = useForm({ ...DEFAULTS, what: "pages", urls: "" });
  const [refused, setRefused] = useState([]);
  const isSite = form.values.what === "site";
  const send = async ({ what, ...values }) => {
    const urls = values.urls.split(/\s+/).filter(Boolean);
    if (urls.length === 0) throw new Error("Give at least one address.");
    if (urls.length > MOST_URLS) throw new Error(`At most ${MOST_URLS} addresses at once; the inbox takes files of up to 100,000.`);
    if (isSite && urls.length > 1) throw new Error("A website has one first page. Give only one address.");
    if (!isSite && urls.length > 1 && values.render) throw new Error("Only one address can be opened in a browser from here. For several, choose a configuration that does.");
    const [path, body] = submitted(values, isSite, urls);
    const answer = await api.post(path, body);
    const bad = (answer.jobs ?? []).filter((each) => each.error);
    setRefused(bad);
    const id = answer.job_id ?? answer.batch_id ?? answer.jobs?.find((each) => each.job_id)?.job_id;
    if (id && bad.length === 0) go("crawl", "job", id);
  };
  return html`<${Card} title="New crawl">
    <${Form} form=${form} send=${send} submit="Crawl">
      <${Choice} title="What to crawl" ...${form.field("what")} options=${[["pages", "Pages that I name"], ["site", "A website, by its links"]]} />
      ${isSite
        ? html`<${Text} title="First page" type="url" ...${form.field("urls")} required placeholder="https://example.com/" />`
        : html`<${Area} title="Addresses" ...${form.field("urls")} rows="3" required placeholder="https://example.com/page" hint=${`One a line, at most ${MOST_URLS}`} />`}
      <${Options} form=${form} isSite=${isSite} />
    </${Form}>
    ${refused.length > 0 && html`<${Note} kind="warning"><p><strong>These addresses were refused; the others are being crawled.</strong></p>
      <ul>${refused.map((each) => html`<li>${each.url}: ${each.error.error}</li>`)}</ul></${Note}>`}
  </${Card}>`;
};

const KINDS = [["crawl", "Pages"], ["crawl_batch", "Batches"], ["deep_crawl", "Websites"]];

const Start = () => html`
  <${Header} title="Crawl" />
  <${Tabs} of=${PLACES} chosen="crawl" />
  <div class="stack">
    ${may("crawl", "write") && html`<${NewCrawl} />`}
    ${may("view_jobs") && html`<${Recent} title="Recent crawls" kinds=${KINDS} to="job" />`}
  </div>
`;

const VIEWS = {
  job: () => import("./crawl-job.js"),
  sources: () => import("./sources.js"),
  discovery: () => import("./discovery.js"),
  inbox: () => import("./inbox.js"),
  media: () => import("./media.js"),
};

const Other = ({ name, id }) => {
  const [{ View, error }, setLoaded] = useState({});
  useEffect(() => {
    VIEWS[name]().then((module) => setLoaded({ View: module.default }), (reason) => setLoaded({ error: reason }));
  }, [name]);
  if (error) return html`<${Failure} error=${error} />`;
  return View ? html`<${View} id=${id} />` : html`<${Loading} />`;
};

export default ({ parts: [name, id] }) => (VIEWS[name] ? html`<${Other} name=${name} id=${id} />` : html`<${Start} />`);
