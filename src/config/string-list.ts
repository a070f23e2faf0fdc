import { formatValue } from "../text/format-value.ts";
import { invalidOptionError } from "./option-reader.ts";

/** A list of texts; none where nothing was said. */
export function readStringList(value: unknown, path: string): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    throw invalidOptionError(path, `${path} is ${formatValue(value)}, wanted a list of texts`);
  }
  return value.map((item: unknown, at): string => {
    if (typeof item === "string") return item;
    throw invalidOptionError(
      `${path}[${at}]`,
      `${path}[${at}] is ${formatValue(item)}, wanted a text`,
    );
  });
}
