import { BRIDGE_COMMANDS } from "../domain/bridge-commands.ts";
import { isObject } from "../domain/json.ts";
import { shown } from "../domain/shown.ts";
import { checkKind, optionsAt, wrongOption } from "./check-options.ts";

/** Commands by their names. */
export function checkCommands(value: unknown, path: string): void {
  if (value === undefined) return;
  if (!isObject(value)) {
    const message = `${path} is ${shown(value)}, wanted an object: each command under its name`;
    throw wrongOption(path, message);
  }
  const names = Object.keys(value);
  if (names.length > MOST_COMMANDS) {
    throw wrongOption(path, `${path} has more than ${MOST_COMMANDS} commands`);
  }
  for (const name of names) checkCommand(name, value[name], `${path}.${name}`);
}

const MOST_COMMANDS = 100;
const LONGEST_WORDS = 200;
const LONGEST_PROMPT = 64 * 1024;

function checkCommand(name: string, value: unknown, path: string): void {
  if (!/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name)) {
    const message = `${path} is no name for a command; use small letters, digits, _ and -`;
    throw wrongOption(path, message);
  }
  if (BRIDGE_COMMANDS.some((own) => own.name === name)) {
    throw wrongOption(path, `${path} is a command of the bridge; call yours something else`);
  }
  const { description, hint, prompt } = optionsAt(value, path, ["description", "hint", "prompt"]);
  checkKind(hint, `${path}.hint`, "string");
  checkWords(description, `${path}.description`, LONGEST_WORDS);
  checkWords(hint ?? name, `${path}.hint`, LONGEST_WORDS);
  checkWords(prompt, `${path}.prompt`, LONGEST_PROMPT);
}

function checkWords(value: unknown, path: string, most: number): void {
  if (typeof value !== "string" || value.trim() === "") {
    throw wrongOption(path, `${path} is ${shown(value)}, wanted a text`);
  }
  if (value.length > most) throw wrongOption(path, `${path} has more than ${most} characters`);
}
