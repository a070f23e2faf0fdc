import { parseJson } from "../../data/json.ts";
import { createValidationError } from "../service/validation-error.ts";
import type { RequestFields } from "./request-fields.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

const MAX_PER_PAGE = 100;

export interface PageRequest {
  readonly list: string;
  readonly limit: number;
  /** The key of the last item on the previous page. */
  readonly afterKey: string;
}

/**
 * Reads the page parameters. A token contains the last key of the previous page, so items added or removed since then
 * do not shift the next page.
 */
export function readPageRequest(list: string, fields: RequestFields): PageRequest {
  const limit = fields.readWholeNumber("maxResults", { min: 1, max: MAX_PER_PAGE });
  const token = fields.readText("nextToken", { pattern: "\\S*", min: 1, max: 2048 });
  fields.throwIfInvalid();
  return {
    list,
    limit: limit ?? MAX_PER_PAGE,
    afterKey: token === undefined ? "" : parsePageToken(token, list),
  };
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextToken?: string;
}

export function paginate<Item>(
  items: readonly Item[],
  getKey: (item: Item) => string,
  { list, limit, afterKey }: PageRequest,
): Page<Item> {
  const remaining = items
    .map((item) => ({ item, key: getKey(item) }))
    .filter(({ key }) => key > afterKey)
    .sort((left, right) => (left.key < right.key ? -1 : 1));
  const page = remaining.slice(0, limit);
  const last = page.at(-1);
  const nextToken =
    remaining.length > page.length && last !== undefined
      ? Buffer.from(JSON.stringify([list, last.key])).toString("base64url")
      : undefined;
  return {
    items: page.map(({ item }) => item),
    ...omitUndefined({ nextToken }),
  };
}

function parsePageToken(token: string, list: string): string {
  const parsed = parseJson(Buffer.from(token, "base64url").toString("utf8"));
  if (parsed.ok && Array.isArray(parsed.value)) {
    const [of, key] = parsed.value;
    if (of === list && typeof key === "string") return key;
  }
  const message = "Member must be a token of the page before";
  throw createValidationError(`1 validation error detected: ${message}`, "FieldValidationFailed", [
    { name: "nextToken", message },
  ]);
}

/** Formats a number as a string that sorts numerically. */
export function formatNumberKey(number: number): string {
  return String(number).padStart(16, "0");
}
