// Data of the API in components: loaded once, or asked again while the page is visible.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

const SLOWEST_SECONDS = 60;

// Load data, again when a value of `on` changes: `useLoad((signal) => api.get(path), [path])`.
// Returns { data, error, isLoading, at, reload }; the former data stay while others are loaded.
export const useLoad = (load, on = []) => {
  const [state, setState] = useState({ data: null, error: null, isLoading: true, at: null });
  const latest = useRef(null);
  const reload = useCallback(async () => {
    latest.current?.abort();
    const abort = new AbortController();
    latest.current = abort;
    setState((former) => ({ ...former, isLoading: true }));
    try {
      const data = await load({ signal: abort.signal });
      if (!abort.signal.aborted) setState({ data, error: null, isLoading: false, at: Date.now() });
    } catch (error) {
      if (!abort.signal.aborted) setState((former) => ({ ...former, error, isLoading: false }));
    }
  }, on);
  useEffect(() => {
    reload();
    return () => latest.current?.abort();
  }, [reload]);
  return { ...state, reload };
};

// Load data every `seconds` while the page is visible and `isOn`. The next request follows the last
// reply, a little later or earlier than others', and ever later while it fails.
export const usePoll = (load, seconds, on = [], isOn = true) => {
  const loaded = useLoad(load, on);
  const { reload } = loaded;
  const failures = useRef(0);
  failures.current = loaded.error ? failures.current + 1 : 0;
  useEffect(() => {
    if (!isOn) return undefined;
    let timer = null;
    let isStopped = false;
    const plan = () => {
      const slower = Math.min(seconds * 2 ** failures.current, Math.max(seconds, SLOWEST_SECONDS));
      timer = setTimeout(ask, slower * 1000 * (0.9 + Math.random() / 5));
    };
    const ask = async () => {
      if (!document.hidden) await reload();
      if (!isStopped) plan();
    };
    const show = () => {
      if (document.hidden) return;
      clearTimeout(timer);
      ask();
    };
    plan();
    document.addEventListener("visibilitychange", show);
    return () => {
      isStopped = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", show);
    };
  }, [reload, seconds, isOn]);
  return loaded;
};

// Return the value after it has rested for some time, such as words that somebody types.
export const useRested = (value, ms = 350) => {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
};
