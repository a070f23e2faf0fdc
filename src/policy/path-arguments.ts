import { isObject, jsonText, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { ToolTraits } from "../domain/tool-traits.ts";

export interface PathArgument {
  /** Where it stands, such as `path` or `paths[1]`. */
  readonly argument: string;
  /** As the model said it. */
  readonly input: string;
  /** Why it is no path; there is nothing to look for then. */
  readonly problem?: string;
}

export interface PathArguments {
  readonly paths: readonly PathArgument[];
  /** Why it is not certain which paths are meant. */
  readonly unclear?: string;
}

/** The paths in a call's arguments. */
export function pathArguments(traits: ToolTraits | undefined, input: JsonObject): PathArguments {
  const declared = traits?.paths;
  const given = [...new Set(declared ?? PATH_NAMES)]
    .filter((name) => Object.hasOwn(input, name))
    .map((name) => [name, input[name] ?? null] as const);
  const read = declared === undefined ? guessedPaths : declaredPaths;
  const found = given.flatMap(([name, value]) => read(name, value));
  const odd = declared === undefined ? given.find(([, value]) => !isPlain(value)) : undefined;
  const unclear =
    odd === undefined ? {} : { unclear: `${odd[0]} is neither text nor a list of it` };
  if (found.length <= MOST_PATHS) return { paths: found, ...unclear };
  const problem = `there are more than ${MOST_PATHS} paths; name fewer in one call`;
  return { paths: [{ argument: "*", input: "", problem }], ...unclear };
}

/** What tools that say nothing of their paths call them. */
const PATH_NAMES = [
  "path",
  "file",
  "file_path",
  "target",
  "source_path",
  "old_path",
  "new_path",
  "target_path",
  "paths",
  "files",
  "cwd",
  "directory",
  "working_directory",
];

const MOST_PATHS = 256;
const LONGEST_PATH = 4_096;
/** In bytes: longer ones no file system takes. */
const LONGEST_NAME = 255;

/** A tool that says which arguments are paths means them to be: anything but text is wrong there. */
function declaredPaths(argument: string, value: JsonValue): PathArgument[] {
  return itemsOf(argument, value).flatMap(([at, one]): PathArgument[] => {
    if (typeof one === "string") return [textPath(at, one)];
    if (one === null) return [];
    return [{ argument: at, input: jsonText(one).slice(0, 200), problem: "it is no text" }];
  });
}

/** Where nobody said what is a path, every text in something else may be one, the names of its parts too. */
function guessedPaths(argument: string, value: JsonValue): PathArgument[] {
  return itemsOf(argument, value).flatMap(([at, one]): PathArgument[] => {
    if (typeof one === "string") return [textPath(at, one)];
    return textsBelow(one).map((input) => ({ argument: at, input }));
  });
}

function isPlain(value: JsonValue): boolean {
  const items = Array.isArray(value) ? value : [value];
  return items.every((one) => one === null || typeof one === "string");
}

function itemsOf(argument: string, value: JsonValue): readonly (readonly [string, JsonValue])[] {
  if (!Array.isArray(value)) return [[argument, value]];
  return value.slice(0, MOST_PATHS + 1).map((one: JsonValue, at) => [`${argument}[${at}]`, one]);
}

function textPath(argument: string, input: string): PathArgument {
  if (input.length <= LONGEST_PATH) return { argument, input };
  const problem = `it is longer than ${LONGEST_PATH} characters`;
  return { argument, input: `${input.slice(0, 200)}…`, problem };
}

/** Each once, and no more than are needed to see that there are too many. */
function textsBelow(value: JsonValue): string[] {
  const texts = new Set<string>();
  const open: JsonValue[] = [value];
  while (open.length > 0 && texts.size <= MOST_PATHS) {
    const one = open.pop() ?? null;
    if (typeof one === "string" && mayBePath(one)) texts.add(one);
    if (Array.isArray(one)) for (const item of one) open.push(item);
    else if (isObject(one)) {
      for (const [name, inner] of Object.entries(one)) {
        if (!PATH_NAMES.includes(name) && mayBePath(name)) texts.add(name);
        open.push(inner);
      }
    }
  }
  return [...texts];
}

/** What a file holds often stands beside its path. */
function mayBePath(text: string): boolean {
  if (text === "" || text.length > LONGEST_PATH) return false;
  const names = text.split(/[/\\]/);
  return names.every((name) => new TextEncoder().encode(name).length <= LONGEST_NAME);
}
