// One audit: score, categories, issues with evidence, comparison with earlier runs, reports.
import { html } from "html";
import { api } from "../app/api.js";
import { Bar, Dial, LineChart } from "../app/charts.js";
import { attempt } from "../app/dialog.js";
import { Folded } from "../app/form.js";
import { Time, duration, number, plural, words } from "../app/format.js";
import { Filters, List, Table, useList } from "../app/list.js";
import { useLoad } from "../app/loading.js";
import { Button, Card, Empty, Facts, Failure, Header, Loading, Pending, Status, WebLink } from "../app/parts.js";
import { href, place, setQuery } from "../app/router.js";
import { may } from "../app/session.js";
import { Events, JobActions, JobError, JobState, Phases, useJob } from "../app/timeline.js";

const MOST_RUNS = 100;
const SEVERITIES = ["critical", "high", "medium", "low", "info"];
const FORMATS = [["html", "Web page"], ["json", "JSON"], ["csv", "CSV"], ["md", "Markdown"], ["junit", "JUnit"], ["sarif", "SARIF"]];
const STATES = { new: "+", fixed: "✓", still: "=", not_seen: "?", unchecked: "?" };

const severityRank = (severity) => SEVERITIES.indexOf(severity);

const Score = ({ audit }) => {
  const categories = Object.entries(audit.categories ?? {});
  const { result } = audit;
  return html`<${Card} title="Score">
    <div class="grid halves">
      <div>
        <${Dial} value=${audit.score} grade=${audit.grade} />
        <p class="small">Formula ${result.formula_version}, checks ${result.catalogue_version}.${audit.score_change != null && ` ${audit.score_change >= 0 ? "+" : ""}${number(audit.score_change)} since the audit before.`}${audit.passed != null && ` ${audit.passed ? "Reaches" : "Below"} the required ${number(audit.fail_under)}.`}</p>
      </div>
      <div>${categories.map(([name, value]) => html`<${Bar} key=${name} title=${words(name)} value=${value} of=${100} text=${value == null ? "–" : number(Math.round(value))} />`)}</div>
    </div>
    <h3>What was read and found</h3>
    <${Facts} of=${[
      ["Pages read", number(result.pages?.html ?? 0)],
      ...Object.entries(result.issues ?? {}).sort(([one], [other]) => severityRank(one) - severityRank(other)).map(([severity, count]) => [`Issues, ${severity}`, number(count)]),
      ["New since the audit before", result.new_issues != null && number(result.new_issues)],
      ["Fixed since then", result.fixed_issues != null && number(result.fixed_issues)],
      ["Pages that couldn't be read", result.unread_pages > 0 && number(result.unread_pages)],
      ...Object.entries(result.lab ?? {}).map(([name, value]) => [`Lab, median: ${words(name)}`, number(value)]),
      ["Sample", result.out_of_time && "cut: the audit's time was over"],
    ]} />
  </${Card}>`;
};

// Issues by check: what is wrong, what to do, and on which pages.
const byCheck = (rows) => {
  const groups = new Map();
  for (const row of rows) {
    const group = groups.get(row.check) ?? { ...row, pages: [] };
    group.pages.push(row);
    groups.set(row.check, group);
  }
  return [...groups.values()].sort((one, other) => severityRank(one.severity) - severityRank(other.severity));
};

const Evidence = ({ row }) => html`<ul>${row.evidence.map((each) => html`<li>
  ${each.where}: <code>${each.value}</code>${each.threshold && html` <span class="small">expected: ${each.threshold}</span>`}
</li>`)}</ul>`;

const Issue = ({ group }) => html`<${Folded} title=${html`<${Status} of=${group.severity} /> <strong>${group.title}</strong> <span class="small">${plural(group.pages.length, "page")}, ${words(group.category)}</span>`}>
  <p>${group.advice} <span class="small">Check <code>${group.check}</code>.</span> ${group.source && html`<span class="small">Source: ${/^https?:/.test(group.source) ? html`<${WebLink} url=${group.source} />` : group.source}</span>`}</p>
  <${Table} title=${group.title} rows=${group.pages} keyOf=${(row) => row.url} columns=${[
    { title: "Page", kind: "wide", value: (row) => html`<${WebLink} url=${row.url} />` },
    { title: "State", value: (row) => (row.state ? words(row.state) : "") },
    { title: "Times", kind: "number", value: (row) => number(row.count) },
    { title: "Evidence", kind: "wide", value: (row) => html`<${Evidence} row=${row} />` },
  ]} />
</${Folded}>`;

const Issues = ({ id, severities }) => {
  const { severity, state } = place.value.query;
  const list = useList(`audits/${id}/issues`, { severity, state });
  const { rows, error, isLoading, hasMore, more, reload } = list;
  const none = severity || state ? "No issue matches the filters." : "No issues: every check passed.";
  return html`<${Card} title="Issues">
    <${Filters} of=${[{ name: "severity", title: "Severity", options: severities }, { name: "state", title: "Since the audit before", options: ["new", "still"] }]} />
    <${Failure} error=${error} retry=${reload} />
    ${isLoading && rows.length === 0 && html`<${Loading} what="Loading issues" />`}
    ${!isLoading && !error && rows.length === 0 && html`<${Empty} title=${none} />`}
    ${byCheck(rows).map((group) => html`<${Issue} key=${group.check} group=${group} />`)}
    ${hasMore && html`<p class="more"><${Button} act=${more}>Show more</${Button}></p>`}
  </${Card}>`;
};

const Compared = ({ id, other }) => {
  const list = useList(`audits/${id}/comparison`, { with: other });
  return html`<${List} list=${list} title="Comparison" keyOf=${(row) => `${row.check} ${row.url}`}
    empty=${html`<${Empty} title="Both runs found the same: nothing to list." />`} columns=${[
      { title: "State", value: (row) => html`<span><span aria-hidden="true">${STATES[row.state]}</span> ${words(row.state)}</span>` },
      { title: "Issue", kind: "wide", value: (row) => row.title },
      { title: "Severity", value: (row) => html`<${Status} of=${row.severity} />` },
      { title: "Page", kind: "wide", value: (row) => html`<${WebLink} url=${row.url} />` },
    ]} />`;
};

// The audits of the same site, oldest first: their scores as a line, and a comparison with one of them.
const History = ({ audit }) => {
  const { data, error, reload } = useLoad(
    async (options) => {
      const { items } = await api.get("audits", { recipe: audit.recipe, limit: MOST_RUNS }, options);
      return items.filter((each) => each.url === audit.url && each.score != null).reverse();
    },
    [audit.audit_id],
  );
  const other = place.value.query.with;
  if (!data) return html`<${Card} title="Earlier audits"><${Pending} error=${error} retry=${reload} /></${Card}>`;
  const earlier = data.filter((each) => each.created_at < audit.created_at).reverse();
  return html`<${Card} title="Earlier audits">
    ${earlier.length === 0 && html`<${Empty} title="This is the first audit of the site.">Audit it again after a change: fixed and new issues are listed here.</${Empty}>`}
    ${data.length > 1 && html`<${LineChart} title="Score" times=${data.map((each) => new Date(each.created_at) / 1000)} series=${[{ title: "Score", values: data.map((each) => each.score) }]} />`}
    ${earlier.length > 0 && html`
      <div class="filters"><label><span>Compare with</span>
        <select onChange=${(event) => setQuery({ with: event.target.value })}>
          ${earlier.map((each) => html`<option value=${each.audit_id} selected=${each.audit_id === other}>${each.created_at.slice(0, 16).replace("T", " ")} UTC, score ${Math.round(each.score)}</option>`)}
        </select></label></div>
      <${Compared} key=${other} id=${audit.audit_id} other=${other || earlier[0].audit_id} />`}
  </${Card}>`;
};

// Downloads: a report is never opened here, since it may be on this page's own address.
const Reports = ({ id }) => {
  const download = (format) => async () => {
    await attempt(async () => {
      const { url } = await api.get(`audits/${id}/report`, { format });
      Object.assign(document.createElement("a"), { href: url, download: `audit-${id}.${format}`, rel: "noreferrer noopener" }).click();
    });
  };
  return html`<${Card} title="Reports to download"><p class="submit">
    ${FORMATS.map(([format, title]) => html`<${Button} act=${download(format)}>${title}</${Button}>`)}
  </p></${Card}>`;
};

export const Audit = ({ id }) => {
  const { data: audit, error, reload } = useJob(`audits/${id}`);
  const back = { href: href("audits"), title: "Site audits" };
  if (!audit) return html`<${Header} title="Audit" back=${back} /><${Pending} error=${error} retry=${reload} />`;
  const job = { ...audit, job_id: id, kind: "audit" };
  return html`
    <${Header} title=${`Audit of ${audit.url}`} back=${back}><${JobActions} job=${job} changed=${reload} /></${Header}>
    <${Card}>
      <${JobState} job=${job} />
      <${Phases} job=${job} />
      <${JobError} error=${audit.error} />
      <${Facts} of=${[
        ["Began", html`<${Time} at=${audit.created_at} />`],
        ["Ended", audit.finished_at && html`<${Time} at=${audit.finished_at} />`],
        ["Took", audit.duration_ms != null && duration(audit.duration_ms)],
      ]} />
    </${Card}>
    ${audit.result && html`
      <${Score} audit=${audit} />
      <${Issues} id=${id} severities=${Object.keys(audit.result.issues ?? {})} />
      <${History} audit=${audit} />
      <${Reports} id=${id} />`}
    ${may("view_jobs") && html`<${Card} title="What happened"><${Events} path=${`audits/${id}/stream`} round=${audit.run} /></${Card}>`}
  `;
};
