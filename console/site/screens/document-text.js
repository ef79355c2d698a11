// A document's text cut into its chunks.
import { html } from "html";
import { useState } from "preact/hooks";
import { api } from "../app/api.js";
import { plural } from "../app/format.js";
import { Button, Empty } from "../app/parts.js";

// The chunks of a document (`FullDocument`), with more on demand; `chosen` is the id of one of them.
export const Chunks = ({ document, chosen }) => {
  const [more, setMore] = useState({ chunks: [], cursor: document.next_chunk_cursor });
  const chunks = [...document.chunks, ...more.chunks];
  const load = async () => {
    const answer = await api.get(`api/v1/documents/${document.document_id}/chunks`, { cursor: more.cursor });
    setMore({ chunks: [...more.chunks, ...answer.items], cursor: answer.next_cursor });
  };
  if (chunks.length === 0) return html`<${Empty} title="No chunks." />`;
  return html`<div class="source" tabindex="0">
    <p class="small">${plural(document.chunk_count, "chunk")}, ${plural(document.token_count, "token")}</p>
    ${chunks.map((chunk) => html`<div key=${chunk.id} id=${chunk.id} class=${`chunk ${chunk.id === chosen ? "chosen" : ""}`}>
      <p class="small">${chunk.chunk_index + 1}${chunk.section_header && ` · ${chunk.section_header}`} · ${plural(chunk.token_count, "token")} · characters ${chunk.start_char} to ${chunk.end_char}</p>${chunk.content}</div>`)}
    ${more.cursor && html`<p class="more"><${Button} act=${load}>Show more</${Button}></p>`}
  </div>`;
};
