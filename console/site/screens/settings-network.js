// Hosts with their pace and circuit breaker, and proxies with a test.
import { html } from "html";
import { useState } from "preact/hooks";
import { api } from "../app/api.js";
import { Dangerous, Dialog, attempt } from "../app/dialog.js";
import { Area, Check, Choice, Form, Number, Text, given, useForm } from "../app/form.js";
import { Time, duration, number, words } from "../app/format.js";
import { Filters, List, Table, useList } from "../app/list.js";
import { useLoad } from "../app/loading.js";
import { Button, Card, Empty, Facts, Failure, Note, Pending, Status } from "../app/parts.js";
import { go, href } from "../app/router.js";
import { may } from "../app/session.js";

const PACE = ["rate_limit_rps", "burst", "min_gap_seconds", "circuit_breaker_threshold", "circuit_breaker_timeout_s", "notes"];

const HostForm = ({ host, onDone }) => {
  const form = useForm(Object.fromEntries(PACE.map((name) => [name, host[name]])));
  const send = async (values) => {
    await api.put(`api/v1/domains/${encodeURIComponent(host.domain)}`, given(values));
    onDone();
  };
  return html`<${Form} form=${form} send=${send} submit="Save">
    <p class="small">Empty fields take what this installation uses for all hosts. Yours can only be slower.</p>
    <div class="fields">
      <${Number} title="Requests per second" ...${form.field("rate_limit_rps")} min="0" step="any" />
      <${Number} title="Requests at once" ...${form.field("burst")} min="1" />
      <${Number} title="Seconds between requests" ...${form.field("min_gap_seconds")} min="0" step="any" />
      <${Number} title="Failures until it rests" ...${form.field("circuit_breaker_threshold")} min="1" />
      <${Number} title="Seconds that it rests" ...${form.field("circuit_breaker_timeout_s")} min="1" step="any" />
    </div>
    <${Area} title="Notes" ...${form.field("notes")} rows="2" />
  </${Form}>`;
};

const BlockForm = ({ host, onDone }) => {
  const form = useForm({ reason: "" });
  const send = async (values) => {
    await api.post(`api/v1/domains/${encodeURIComponent(host)}/block`, values);
    onDone();
  };
  return html`<${Form} form=${form} send=${send} submit="Block"><${Text} title="Reason" ...${form.field("reason")} required maxlength="500" /></${Form}>`;
};

const HostPage = ({ id }) => {
  const path = `api/v1/domains/${encodeURIComponent(id)}`;
  const { data: host, error, reload } = useLoad((options) => api.get(path, {}, options), [id]);
  const [opened, setOpened] = useState("");
  if (!host) return html`<${Pending} error=${error} retry=${reload} />`;
  const mayChange = may("configure_crawls", "write");
  const done = () => {
    setOpened("");
    reload();
  };
  const move = (name, text) => async () => (await attempt(() => api.post(`${path}/${name}`), text)) && reload();
  return html`
    <p class="back"><a href=${href("settings", "hosts")}>‹ Hosts</a></p>
    <${Card} title=${host.domain} actions=${mayChange && html`
      <button type="button" onClick=${() => setOpened("pace")}>Change its pace</button>
      ${host.blocked ? html`<${Button} act=${move("unblock", "Unblocked.")}>Unblock</${Button}>` : html`<button type="button" class="danger" onClick=${() => setOpened("block")}>Block</button>`}
      ${may("configure_crawls", "admin") && html`<${Dangerous} kind="" title="Reset the circuit breaker?" question="Requests to the host begin again at once." action="Reset" done="Reset." act=${async () => { await api.post(`${path}/reset`); reload(); }}>Reset the breaker</${Dangerous}>`}`}>
      ${host.blocked && html`<${Note} kind="warning">Blocked${host.blocked_at && html` since <${Time} at=${host.blocked_at} />`}: ${host.blocked_reason}</${Note}>`}
      <${Facts} of=${[
        ["Circuit breaker", html`<${Status} of=${host.circuit.state} as=${{ closed: "good", open: "bad", half_open: "warning" }[host.circuit.state]} />`],
        ["Meaning", { closed: "requests go through", open: "the host failed and rests", half_open: "one request tries it" }[host.circuit.state]],
        ["Failures in a row", number(host.circuit.failures)],
        ["Rests for", host.circuit.retry_after_seconds && duration(host.circuit.retry_after_seconds * 1000)],
        ["Requests per second", number(host.pace.rate_limit_rps)],
        ["Requests at once", number(host.pace.burst)],
        ["Notes", host.notes],
      ]} />
    </${Card}>
    ${opened === "pace" && html`<${Dialog} title="Change the pace" onClose=${() => setOpened("")}><${HostForm} host=${host} onDone=${done} /></${Dialog}>`}
    ${opened === "block" && html`<${Dialog} title=${`Block ${host.domain}`} onClose=${() => setOpened("")}><${BlockForm} host=${host.domain} onDone=${done} /></${Dialog}>`}
  `;
};

const HostList = ({ query }) => {
  const list = useList("api/v1/domains", { blocked: query.blocked });
  const form = useForm({ host: "" });
  return html`
    <${Card} title="Look at a host">
      <${Form} form=${form} send=${async ({ host }) => go("settings", "hosts", host.trim())} submit="Look">
        <${Text} title="Host" ...${form.field("host")} required placeholder="example.com" hint="Its pace, and whether its circuit breaker is open" />
      </${Form}>
    </${Card}>
    <${Card} title="Hosts with settings of yours">
      <${Filters} of=${[{ name: "blocked", title: "Show", options: [["true", "blocked only"], ["false", "not blocked"]] }]} />
      <${List} list=${list} title="Hosts" keyOf=${(host) => host.domain} filters=${["blocked"]} empty=${html`<${Empty} title="No host has settings of yours.">Look at one above to change its pace or block it.</${Empty}>`} columns=${[
        { title: "Host", kind: "wide", value: (host) => html`<a href=${href("settings", "hosts", host.domain)}>${host.domain}</a>` },
        { title: "State", value: (host) => (host.blocked ? html`<${Status} of="blocked" />` : html`<${Status} of="allowed" as="good" />`) },
        { title: "Why", kind: "wide", value: (host) => host.blocked_reason ?? "" },
        { title: "Requests per second", kind: "number", value: (host) => number(host.pace.rate_limit_rps) },
        { title: "Changed", value: (host) => html`<${Time} at=${host.updated_at} />` },
      ]} />
    </${Card}>
  `;
};

export const Hosts = ({ id, query }) => (id ? html`<${HostPage} id=${id} />` : html`<${HostList} query=${query} />`);

const ProxyForm = ({ proxy, onDone }) => {
  const form = useForm({
    name: proxy?.name ?? "", rotation_strategy: proxy?.rotation_strategy ?? "round_robin", is_active: proxy?.is_active ?? true,
    servers: (proxy?.servers ?? []).map((server) => server.url).join("\n"), username: "", password: "",
  });
  const send = async ({ servers, username, password, ...values }) => {
    const body = { ...values, servers: servers.split(/\s+/).filter(Boolean).map((url) => ({ url, ...given({ username, password }) })) };
    onDone(proxy ? await api.put(`api/v1/proxies/${proxy.proxy_id}`, body) : await api.post("api/v1/proxies", body));
  };
  return html`<${Form} form=${form} send=${send} submit="Save">
    <${Text} title="Name" ...${form.field("name")} required maxlength="100" />
    <${Area} title="Servers" ...${form.field("servers")} required rows="3" placeholder="http://proxy.example.com:8080" hint="One a line, at most 50" />
    <div class="fields">
      <${Text} title="User name of the servers" ...${form.field("username")} autocomplete="off" />
      <${Text} title="Password of the servers" type="password" ...${form.field("password")} autocomplete="off" hint=${proxy ? "Give it again: stored ones aren't shown" : ""} />
    </div>
    <${Choice} title="Which server comes next" ...${form.field("rotation_strategy")} options=${[["round_robin", "in turn"], ["least_used", "the least used"], ["random", "at random"]]} />
    <${Check} title="Active" ...${form.field("is_active")} />
  </${Form}>`;
};

const Trial = ({ proxy, onClose }) => {
  const form = useForm({ url: "https://example.com/", position: 0 });
  const [result, setResult] = useState(null);
  const send = async ({ url, position }) => setResult(await api.post("api/v1/proxies/test", { url, proxy_id: proxy.proxy_id, position: globalThis.Number(position) }));
  return html`<${Dialog} title=${`Test ${proxy.name}`} onClose=${onClose}>
    <${Form} form=${form} send=${send} submit="Test">
      <${Text} title="Address to fetch" type="url" ...${form.field("url")} required />
      <${Choice} title="Server" ...${form.field("position")} options=${proxy.servers.map((server, index) => [index, server.url])} />
    </${Form}>
    ${result && html`<${Note} kind=${result.reachable ? "good" : "bad"}><p role="status">${result.reachable ? `It works: answer ${result.status_code} in ${duration(result.latency_ms)}.` : `It doesn't work: ${result.error?.error ?? result.error?.code ?? "no answer"}.`}</p></${Note}>`}
  </${Dialog}>`;
};

const ProxyServers = ({ id, onClose }) => {
  const { data: proxy, error, reload } = useLoad((options) => api.get(`api/v1/proxies/${id}`, {}, options), [id]);
  return html`<${Dialog} title="Servers" onClose=${onClose}>
    <${Failure} error=${error} retry=${reload} />
    ${proxy && html`<${Table} title="Servers" rows=${proxy.servers} keyOf=${(server) => server.url} columns=${[
      { title: "Server", kind: "wide", value: (server) => server.url },
      { title: "Sign-in", value: (server) => (server.has_credentials ? "yes" : "no") },
      { title: "Failures in a row", kind: "number", value: (server) => number(server.failures) },
      { title: "State", value: (server) => html`<${Status} of=${server.resting ? "resting" : "ok"} as=${server.resting ? "warning" : "good"} />` },
    ]} />`}
  </${Dialog}>`;
};

export const Proxies = () => {
  const list = useList("api/v1/proxies");
  const [opened, setOpened] = useState(null);
  const mayChange = may("configure_crawls", "write");
  const close = () => setOpened(null);
  const done = () => {
    close();
    list.reload();
  };
  return html`<${Card} title="Proxies" actions=${mayChange && html`<button type="button" class="main" onClick=${() => setOpened({ what: "edit" })}>New proxies</button>`}>
    <${List} list=${list} title="Proxies" keyOf=${(proxy) => proxy.proxy_id} empty=${html`<${Empty} title="No proxies yet.">Crawls go out directly.</${Empty}>`} columns=${[
      { title: "Name", kind: "wide", value: (proxy) => proxy.name },
      { title: "Servers", value: (proxy) => html`<button type="button" class="plain" onClick=${() => setOpened({ what: "servers", proxy })}>${number(proxy.servers.length)}</button>` },
      { title: "Next server", value: (proxy) => words(proxy.rotation_strategy) },
      { title: "State", value: (proxy) => html`<${Status} of=${proxy.is_active ? "active" : "disabled"} />` },
      { title: "", kind: "actions", value: (proxy) => mayChange && html`<span class="actions">
        <button type="button" onClick=${() => setOpened({ what: "trial", proxy })}>Test</button>
        <button type="button" onClick=${() => setOpened({ what: "edit", proxy })}>Edit</button>
        <${Dangerous} title=${`Delete ${proxy.name}?`} question="Crawls that name it are refused." action="Delete" done="Deleted." act=${async () => { await api.remove(`api/v1/proxies/${proxy.proxy_id}`); list.reload(); }} /></span>` },
    ]} />
    ${opened?.what === "edit" && html`<${Dialog} title=${opened.proxy ? "Edit the proxies" : "New proxies"} onClose=${close}><${ProxyForm} proxy=${opened.proxy} onDone=${done} /></${Dialog}>`}
    ${opened?.what === "trial" && html`<${Trial} proxy=${opened.proxy} onClose=${close} />`}
    ${opened?.what === "servers" && html`<${ProxyServers} id=${opened.proxy.proxy_id} onClose=${close} />`}
  </${Card}>`;
};
