import type { SessionRecord } from "./session-index.ts";
import { StoreError } from "./store-error.ts";

/** The last session of a page, which is where the next one goes on. */
export interface PagePosition {
  readonly updatedAt: number;
  readonly sessionId: string;
}

export function encodePage({ updatedAt, sessionId }: SessionRecord): string {
  return `${updatedAt}.${sessionId}`;
}

export function decodePage(page: string): PagePosition {
  const [, time, sessionId] = /^(-?\d+)\.(.+)$/s.exec(page) ?? [];
  if (time === undefined || sessionId === undefined) {
    throw new StoreError("invalid_option", `${page} is no page that this list gave`, {
      details: { path: "page" },
    });
  }
  return { updatedAt: Number(time), sessionId };
}

/** Each of these has to occur. */
export function splitSearchWords(search: string): readonly string[] {
  // SQLite's index ends a text at a NUL, and no text has one.
  return search.split(/[\s\0]+/).filter((word) => word !== "");
}
