// What of Vinted's answers goes to the server.

const ERRORS = 8;

// A message has at most 4096 characters: ids and addresses, and of a refusal its reasons.
export function short(data) {
  if (data === null || typeof data !== "object") return {};
  const pick = (from) => from ? {id: from.id, url: from.url, title: from.title} : undefined;
  const found = {
    id: data.id, draft: pick(data.draft), item: pick(data.item),
    code: data.code, message: cut(data.message, 300),
  };
  if (Array.isArray(data.errors) && data.errors.length) {
    found.errors = data.errors.slice(0, ERRORS).map((each) => ({
      field: cut(each?.field, 60), value: cut(each?.value, 150),
    }));
  }
  return found;
}

function cut(text, most) {
  return text === undefined || text === null ? undefined : String(text).slice(0, most);
}
