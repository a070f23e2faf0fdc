import { isObject, parseJson } from "../../data/json.ts";
import { SEND_MODES, type SendMode } from "./send-modes.ts";

/** An unsent message without its images, which are too large for the storage of a tab. */
export interface Draft {
  readonly text: string;
  /** The chosen mode. Null: the default. */
  readonly mode: SendMode | null;
}

export const EMPTY_DRAFT: Draft = { text: "", mode: null };

/** The part of `sessionStorage` which drafts need. */
export interface DraftStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** The storage of the tab. Null if the browser forbids its use. */
export function getDraftStorage(): DraftStorage | null {
  try {
    return window.sessionStorage;
  } catch {
    return null;
  }
}

/** Characters. A longer draft is kept on the page only. */
const MAX_DRAFT_LENGTH = 200_000;

/** Reads the draft of a session. An unreadable draft is empty. */
export function loadDraft(storage: DraftStorage | null, sessionId: string): Draft {
  const stored = attempt(() => storage?.getItem(toKey(sessionId)));
  const parsed = stored === null || stored === undefined ? undefined : parseJson(stored);
  if (parsed?.ok !== true || !isObject(parsed.value)) return EMPTY_DRAFT;
  const { text, mode } = parsed.value;
  return {
    text: typeof text === "string" ? text : "",
    mode: SEND_MODES.find((known) => known === mode) ?? null,
  };
}

/** Stores a draft. An empty draft is removed. */
export function saveDraft(
  storage: DraftStorage | null,
  sessionId: string,
  { text, mode }: Draft,
): void {
  const key = toKey(sessionId);
  attempt(() => {
    if (text === "" || text.length > MAX_DRAFT_LENGTH) storage?.removeItem(key);
    else storage?.setItem(key, JSON.stringify({ text, mode }));
  });
}

/** A full or forbidden storage must not stop a person from typing. */
function attempt<Value>(access: () => Value): Value | undefined {
  try {
    return access();
  } catch {
    return undefined;
  }
}

function toKey(sessionId: string): string {
  return `spanline.draft.${sessionId}`;
}
