// Search as one types: how each hit was found, filters, and two ways of merging side by side.
import { html } from "html";
import { useEffect, useState } from "preact/hooks";
import { api } from "../app/api.js";
import { Bar } from "../app/charts.js";
import { duration, number, plural, words } from "../app/format.js";
import { useLoad, useRested } from "../app/loading.js";
import { Button, Card, Empty, Failure, Header, Loading, Note, WebLink } from "../app/parts.js";
import { href, place, setQuery } from "../app/router.js";
import { may } from "../app/session.js";

const LIMIT = 10;
const EXCERPT = 600;
const BEFORE_FIRST = 120;
const WAYS = [["auto", "as usual"], ["rrf", "by ranks"], ["min_max", "by scores"], ["vector", "meaning only"], ["keyword", "words only"]];
const PATHS = { vector: "api/v1/search/vector", keyword: "api/v1/search/keyword" };
const FILTERS = ["collection", "tag", "domain", "language", "source", "from", "to"];

// The part of a text around its first match, with all matches marked; the code units of JavaScript count like the server's
// characters only if each is taken as one, so the text is cut as an array of characters.
const Marked = ({ text, ranges }) => {
  const letters = Array.from(text);
  const wordAt = (index) => Math.max(letters.lastIndexOf(" ", index) + 1, 0);
  const first = (ranges[0]?.[0] ?? 0) - BEFORE_FIRST;
  const start = first > 0 ? wordAt(first) : 0;
  const stop = start + EXCERPT < letters.length ? wordAt(start + EXCERPT) : letters.length;
  const parts = [start > 0 ? "… " : ""];
  let position = start;
  for (const [begin, end] of ranges) {
    if (begin < position || end > stop) continue;
    parts.push(letters.slice(position, begin).join(""), html`<mark>${letters.slice(begin, end).join("")}</mark>`);
    position = end;
  }
  parts.push(letters.slice(position, stop).join(""), stop < letters.length ? " …" : "");
  return parts;
};

const requestOf = (query, words_, cursor) =>
  Object.fromEntries(
    Object.entries({
      query: words_,
      limit: LIMIT,
      cursor,
      collection_ids: query.collection && [query.collection],
      tag_ids: query.tag && [query.tag],
      domains: query.domain && [query.domain],
      languages: query.language && [query.language],
      source_types: query.source && [query.source],
      date_from: query.from && `${query.from}T00:00:00Z`,
      date_to: query.to && `${query.to}T23:59:59Z`,
    }).filter(([, value]) => value),
  );

const search = (way, request, options) => {
  const fusion = PATHS[way] || way === "auto" ? {} : { fusion: way };
  return api.post(PATHS[way] ?? "api/v1/search", { ...request, ...fusion }, options);
};

const Hit = ({ hit, rank, moved, most }) => html`<li class="hit">
  <h2>${rank}. <a href=${href("documents", hit.document_id, { chunk: hit.chunk_id })}>${hit.title || hit.url}</a>
    ${moved != null && moved !== 0 && html`<span class=${`small ${moved > 0 ? "plus" : "minus"}`}> ${moved > 0 ? `${moved} higher` : `${-moved} lower`} than on the left</span>`}
    ${moved === null && html`<span class="small plus"> new</span>`}
  </h2>
  <p class="small"><${WebLink} url=${hit.url} /> ${hit.section_header && html`<span>· ${hit.section_header}</span>`}</p>
  <div class="hit-body">
    <p class="excerpt"><${Marked} text=${hit.content} ranges=${hit.highlights} /></p>
    <div>
      <${Bar} title="Score" value=${hit.score} of=${most.score} />
      <${Bar} title="By meaning" value=${hit.vector_score} of=${most.vector} text=${`${number(hit.vector_score)} (rank ${hit.vector_rank ?? "–"})`} />
      <${Bar} title="By words" value=${hit.keyword_score} of=${most.keyword} text=${`${number(hit.keyword_score)} (rank ${hit.keyword_rank ?? "–"})`} />
      ${hit.rerank_score != null && html`<${Bar} title="Reranked" value=${hit.rerank_score} />`}
      ${hit.similar_count > 0 && html`<p class="small">and ${plural(hit.similar_count, "nearly equal hit")}</p>`}
    </div>
  </div>
</li>`;

const highest = (hits, name) => Math.max(...hits.map((hit) => hit[name] ?? 0), Number.EPSILON);

// Share of hits that two answers have in common (Jaccard).
const overlap = (one, other) => {
  const ids = new Set(one.map((hit) => hit.chunk_id));
  const both = other.filter((hit) => ids.has(hit.chunk_id)).length;
  return both / (one.length + other.length - both || 1);
};

const Results = ({ title, answer, other, more, place: where }) => {
  const hits = answer.results;
  const most = { score: highest(hits, "score"), vector: highest(hits, "vector_score"), keyword: highest(hits, "keyword_score") };
  const former = other && new Map(other.results.map((hit, index) => [hit.chunk_id, index]));
  const moved = (hit, index) => {
    if (!former) return undefined;
    return former.has(hit.chunk_id) ? former.get(hit.chunk_id) - index : null;
  };
  return html`<${Card} title=${title}>
    <p class="small" role="status">${plural(answer.total_count, "hit")} in ${duration(answer.latency_ms)}${answer.result_cached ? ", from the cache" : ""}${answer.fusion ? `; merged by ${words(answer.fusion)}` : ""}</p>
    ${answer.degraded && html`<${Note} kind="warning">Only words were searched: the part that compares meanings doesn't respond.</${Note}>`}
    ${answer.query_truncated && html`<${Note} kind="warning">The question was too long to compare meanings: its end was left out.</${Note}>`}
    ${hits.length === 0 && html`<${Empty} title="Nothing found.">Searched: ${where}. Try fewer words${FILTERS.some((name) => place.value.query[name]) ? ", or remove filters" : ""}, or <a href=${href("crawl")}>crawl more pages</a>.</${Empty}>`}
    <ol class="plain-list">${hits.map((hit, index) => html`<${Hit} key=${hit.chunk_id} hit=${hit} rank=${index + 1} moved=${moved(hit, index)} most=${most} />`)}</ol>
    ${more && html`<p class="more"><${Button} act=${more}>Show more</${Button}></p>`}
  </${Card}>`;
};

const Choices = ({ query }) => {
  const { data } = useLoad(async (options) => {
    const all = (path) => api.get(path, { limit: 100 }, options).then((answer) => answer.items, () => []);
    if (!may("view_documents")) return { collections: [], tags: [] };
    const [collections, tags] = await Promise.all([all("api/v1/collections"), all("api/v1/tags")]);
    return { collections, tags };
  });
  const select = (name, title, options) => html`<label><span>${title}</span>
    <select onChange=${(event) => setQuery({ [name]: event.target.value })}>
      <option value="" selected=${!query[name]}>All</option>
      ${options.map(([value, text]) => html`<option value=${value} selected=${query[name] === value}>${text}</option>`)}
    </select></label>`;
  const field = (name, title, type = "search") => html`<label><span>${title}</span>
    <input type=${type} value=${query[name] ?? ""} onChange=${(event) => setQuery({ [name]: event.target.value.trim() })} /></label>`;
  return html`<details class="folded" open=${FILTERS.some((name) => query[name]) || query.compare}>
    <summary>Filters and comparison</summary>
    <div class="filters">
      ${select("collection", "Collection", (data?.collections ?? []).map((each) => [each.collection_id, each.name]))}
      ${select("tag", "Tag", (data?.tags ?? []).map((each) => [each.tag_id, each.name]))}
      ${field("domain", "Host")}
      ${field("language", "Language code")}
      ${select("source", "Came by", [["crawl", "crawl"], ["upload", "upload"], ["api", "API"], ["s3", "S3"]])}
      ${field("from", "Changed since", "date")}
      ${field("to", "Changed until", "date")}
      ${select("way", "Merge both ways of searching", WAYS)}
      ${select("compare", "Compare with", WAYS)}
    </div>
  </details>`;
};

export default ({ query }) => {
  const [text, setText] = useState(query.q ?? "");
  const rested = useRested(text.trim());
  useEffect(() => {
    if (rested !== (query.q ?? "")) setQuery({ q: rested });
  }, [rested]);
  const asked = query.q ?? "";
  const way = query.way || "auto";
  const compared = query.compare;
  const request = requestOf(query, asked);
  const { data, error, isLoading, reload } = useLoad(
    async (options) => {
      if (!asked) return null;
      const [first, second] = await Promise.all([search(way, request, options), compared ? search(compared, request, options) : null]);
      return { first, second, asked };
    },
    [JSON.stringify(request), way, compared],
  );
  const [added, setAdded] = useState(null);
  useEffect(() => setAdded(null), [data]);
  const first = data && { ...data.first, results: [...data.first.results, ...(added?.results ?? [])] };
  const cursor = added ? added.next_cursor : data?.first.next_cursor;
  const more = async () => {
    const answer = await search(way, requestOf(query, asked, cursor));
    setAdded({ results: [...(added?.results ?? []), ...answer.results], next_cursor: answer.next_cursor });
  };
  const where = query.domain ? `pages of ${query.domain}` : query.collection ? "one collection" : "all documents";
  return html`
    <${Header} title="Search" />
    <form role="search" onSubmit=${(event) => { event.preventDefault(); setQuery({ q: text.trim() }); }}>
      <div class="field"><label for="question">Question or words</label>
        <input id="question" type="search" value=${text} maxlength="1000" autocomplete="off" onInput=${(event) => setText(event.target.value)} /></div>
    </form>
    <${Choices} query=${query} />
    <${Failure} error=${error} retry=${reload} />
    ${!asked && html`<${Empty} title="Type a question.">Results appear when you pause.</${Empty}>`}
    ${asked && isLoading && !data && html`<${Loading} what="Searching" />`}
    ${data?.second && html`<p>Both answers have <strong>${number(Math.round(overlap(data.first.results, data.second.results) * 100))} %</strong> of their hits in common.</p>`}
    ${asked && first && html`<div class=${data.second ? "grid halves" : ""}>
      <${Results} title=${data.second ? WAYS.find(([name]) => name === way)[1] : null} answer=${first} more=${cursor && more} place=${where} />
      ${data.second && html`<${Results} title=${WAYS.find(([name]) => name === compared)[1]} answer=${data.second} other=${data.first} place=${where} />`}
    </div>`}
  `;
};
