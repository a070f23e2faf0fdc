import { shown } from "../../domain/shown.ts";
import { wrongOption } from "../check-options.ts";

/** A list of texts; none where nothing was said. */
export function textsAt(value: unknown, path: string): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    throw wrongOption(path, `${path} is ${shown(value)}, wanted a list of texts`);
  }
  return value.map((one: unknown, at): string => {
    if (typeof one === "string") return one;
    throw wrongOption(`${path}[${at}]`, `${path}[${at}] is ${shown(one)}, wanted a text`);
  });
}
