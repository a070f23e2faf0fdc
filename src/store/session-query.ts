import type { SessionRecord } from "./session-index.ts";
import { StoreError } from "./store-error.ts";

/** The last session of a page. The next page starts after this position. */
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
    throw new StoreError(
      "invalid_option",
      `${page} is not a valid page: expected the \`nextPage\` of a previous list`,
      {
        details: { path: "page" },
      },
    );
  }
  return { updatedAt: Number(time), sessionId };
}

/** Splits a search into words. A session matches if every word occurs. */
export function splitSearchWords(search: string): readonly string[] {
  // The FTS5 index cuts text at a NUL, and no message contains a NUL.
  return search.split(/[\s\0]+/).filter((word) => word !== "");
}
