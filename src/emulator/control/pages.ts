import { parseJson } from "../../domain/json.ts";
import { validationError } from "../validation-error.ts";
import type { Fields } from "./fields.ts";

const MOST_PER_PAGE = 100;

export interface PageRequest {
  readonly list: string;
  readonly most: number;
  /** The key of the last item of the page before. */
  readonly after: string;
}

/** A token tells where the page before ended, by key: what came or went since then does not move the rest. */
export function readPageRequest(list: string, fields: Fields): PageRequest {
  const most = fields.wholeNumber("maxResults", { least: 1, most: MOST_PER_PAGE });
  const token = fields.text("nextToken", { pattern: "\\S*", least: 1, most: 2048 });
  fields.finish();
  return {
    list,
    most: most ?? MOST_PER_PAGE,
    after: token === undefined ? "" : keyIn(token, list),
  };
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextToken?: string;
}

export function pageOf<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  { list, most, after }: PageRequest,
): Page<Item> {
  const rest = items
    .map((item) => ({ item, key: keyOf(item) }))
    .filter(({ key }) => key > after)
    .sort((left, right) => (left.key < right.key ? -1 : 1));
  const page = rest.slice(0, most);
  const last = page.at(-1);
  const nextToken =
    rest.length > page.length && last !== undefined
      ? Buffer.from(JSON.stringify([list, last.key])).toString("base64url")
      : undefined;
  return {
    items: page.map(({ item }) => item),
    ...(nextToken !== undefined && { nextToken }),
  };
}

function keyIn(token: string, list: string): string {
  const parsed = parseJson(Buffer.from(token, "base64url").toString("utf8"));
  if (parsed.ok && Array.isArray(parsed.value)) {
    const [of, key] = parsed.value;
    if (of === list && typeof key === "string") return key;
  }
  const message = "Member must be a token of the page before";
  throw validationError(`1 validation error detected: ${message}`, "FieldValidationFailed", [
    { name: "nextToken", message },
  ]);
}

/** Numbers that sort as texts. */
export function numberKey(number: number): string {
  return String(number).padStart(16, "0");
}
