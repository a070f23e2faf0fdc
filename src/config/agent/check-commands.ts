import { BRIDGE_COMMANDS } from "../../domain/bridge-commands.ts";
import { isObject } from "../../data/json.ts";
import { formatValue } from "../../text/format-value.ts";
import { checkType, readOptions, invalidOptionError } from "../option-reader.ts";

/** Commands by their names. */
export function checkCommands(value: unknown, path: string): void {
  if (value === undefined) return;
  if (!isObject(value)) {
    const message = `${path} is ${formatValue(value)}, wanted an object: each command under its name`;
    throw invalidOptionError(path, message);
  }
  const names = Object.keys(value);
  if (names.length > MAX_COMMANDS) {
    throw invalidOptionError(path, `${path} has more than ${MAX_COMMANDS} commands`);
  }
  for (const name of names) checkCommand(name, value[name], `${path}.${name}`);
}

const MAX_COMMANDS = 100;
const MAX_TEXT_LENGTH = 200;
const MAX_PROMPT_LENGTH = 64 * 1024;

function checkCommand(name: string, value: unknown, path: string): void {
  if (!/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name)) {
    const message = `${path} is no name for a command; use small letters, digits, _ and -`;
    throw invalidOptionError(path, message);
  }
  if (BRIDGE_COMMANDS.some((builtIn) => builtIn.name === name)) {
    throw invalidOptionError(path, `${path} is a command of the bridge; call yours something else`);
  }
  const { description, hint, prompt } = readOptions(value, path, ["description", "hint", "prompt"]);
  checkType(hint, `${path}.hint`, "string");
  checkText(description, `${path}.description`, MAX_TEXT_LENGTH);
  checkText(hint ?? name, `${path}.hint`, MAX_TEXT_LENGTH);
  checkText(prompt, `${path}.prompt`, MAX_PROMPT_LENGTH);
}

function checkText(value: unknown, path: string, maxLength: number): void {
  if (typeof value !== "string" || value.trim() === "") {
    throw invalidOptionError(path, `${path} is ${formatValue(value)}, wanted a text`);
  }
  if (value.length > maxLength)
    throw invalidOptionError(path, `${path} has more than ${maxLength} characters`);
}
