import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { SimpleCommand } from "../../domain/policy-decision.ts";
import { HOLE } from "../wildcard.ts";
import { launchOf } from "./launchers.ts";
import { scanShell, type ScannedCommand } from "./shell-scan.ts";

export interface CommandFacts {
  readonly command: string;
  readonly simpleCommands: readonly SimpleCommand[];
  readonly commandUnparsed?: string;
}

const COMMAND_ARGUMENTS = ["command", "cmd", "argv"] as const;

/** What a call's arguments would run; undefined where they name no command. */
export function commandFacts(input: JsonObject): CommandFacts | undefined {
  const given = COMMAND_ARGUMENTS.map((name) => own(input, name)).filter(
    (value) => value !== undefined && value !== null,
  );
  if (given.length === 0) return undefined;
  const found: Found = { commands: [], depth: 0, text: 0 };
  if (given.length > 1) doubt(found, "it is given more than once");
  const texts = given.map((value) => readGiven(value, own(input, "args"), found));
  noteSurroundings(input, found);
  const whole = texts
    .join("; ")
    .replaceAll(/[ \t\n]+/g, " ")
    .trim();
  const command = whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole;
  const simpleCommands = found.commands.slice(0, MOST_COMMANDS);
  if (found.doubt === undefined) return { command, simpleCommands };
  return { command, simpleCommands, commandUnparsed: found.doubt };
}

const LONGEST = 4_096;
const TOO_LONG = `it is longer than ${LONGEST} characters`;
const MOST_COMMANDS = 24;
/** Of all simple commands together: launchers in a row repeat what comes after them. */
export const MOST_TEXT = 4 * LONGEST;

interface Found {
  readonly commands: SimpleCommand[];
  /** The first reason why it is not certain what runs. */
  doubt?: string;
  /** How many shells are started inside each other. */
  depth: number;
  /** How long the commands are together. */
  text: number;
}

function doubt(found: Found, why: string): void {
  found.doubt ??= why;
}

/** Something runs that may be anything. */
function addUnknown(found: Found, why: string): void {
  doubt(found, why);
  found.commands.unshift({ program: null, words: [HOLE] });
}

function own(input: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(input, name) ? input[name] : undefined;
}

function readGiven(value: JsonValue, args: JsonValue | undefined, found: Found): string {
  if (isTexts(value)) {
    const text = value.join(" ");
    if (text.length > LONGEST) addUnknown(found, TOO_LONG);
    else readWords(value, found);
    return text;
  }
  if (typeof value !== "string") {
    addUnknown(found, "it is no text");
    return "";
  }
  const text = args === undefined || args === null ? value : withArguments(value, args, found);
  if (text.trim() === "") addUnknown(found, "it is empty");
  else readScript(text, found);
  return text;
}

function isTexts(value: JsonValue): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/**
 * A command and its arguments apart. Some tools hand them to a shell as one text, others do not: where the two would not
 * be the same, nothing is certain.
 */
function withArguments(command: string, args: JsonValue, found: Found): string {
  if (!isTexts(args)) {
    doubt(found, "its arguments are no list of texts");
    return command;
  }
  const words = [command, ...args];
  const text = words.join(" ");
  if (text.length <= LONGEST && !words.every((word) => /^[\w@%+=:,./-]+$/.test(word))) {
    doubt(found, "its arguments may mean something to a shell");
    readWords(words, found);
  }
  return text;
}

/** The same command is another with other variables, or in a shell of another language. */
function noteSurroundings(input: JsonObject, found: Found): void {
  for (const name of ["env", "environment"]) {
    const value = own(input, name);
    if (value !== undefined && value !== null) doubt(found, "it is given variables of its own");
  }
  const shell = own(input, "shell") ?? true;
  const isKnown = typeof shell === "string" ? KNOWN_SHELL.test(shell) : typeof shell === "boolean";
  if (!isKnown) addUnknown(found, "it is given a shell of its own");
}

const KNOWN_SHELL = /^(\/(usr\/)?bin\/)?(ba|da)?sh$/;

function readScript(text: string, found: Found): void {
  if (text.length > LONGEST) return addUnknown(found, TOO_LONG);
  const { commands, problem } = scanShell(text);
  for (const command of commands) readScanned(command, found);
  if (problem !== undefined) addUnknown(found, problem);
}

function readScanned({ words, assignments, redirects }: ScannedCommand, found: Found): void {
  if (redirects) doubt(found, "it reads or writes a file by < or >");
  noteVariables(assignments, found);
  if (words.length > 0) readWords(words, found);
}

function noteVariables(names: readonly string[], found: Found): void {
  const name = names.find((one) => !HARMLESS_VARIABLES.has(one));
  if (name !== undefined) doubt(found, `it sets ${name}`);
}

/** Almost any other variable makes some program run something else: PATH, PAGER, GIT_SSH_COMMAND, NODE_OPTIONS… */
const HARMLESS_VARIABLES = new Set(["CI", "NODE_ENV", "NO_COLOR", "FORCE_COLOR", "RUST_BACKTRACE"]);

const MOST_SHELLS = 5;

function readWords(words: readonly string[], found: Found): void {
  const [program = "", ...args] = words;
  found.text += words.join(" ").length;
  if (found.commands.length >= MOST_COMMANDS || found.text > MOST_TEXT)
    return addUnknown(found, "it runs too much");
  if (!isPlainProgram(program)) {
    found.commands.push({ program: null, words: [HOLE, ...args] });
    return doubt(found, "the program that it runs is not a plain name");
  }
  found.commands.push({ program, words });
  if (isExport(words)) return noteVariables(args.map(nameBeforeValue), found);
  const launch = launchOf(program, args);
  switch (launch.type) {
    case "nothing":
      return;
    case "program":
      noteVariables(launch.sets ?? [], found);
      return readWords(launch.words, found);
    case "anything":
      return addUnknown(found, `${program} may start any other program`);
    case "script":
      if (++found.depth > MOST_SHELLS) return addUnknown(found, "it starts shells in shells");
      readScript(launch.text, found);
      found.depth -= 1;
  }
}

function isPlainProgram(program: string): boolean {
  return program === "[" || /^[\w.+@:/][\w.+@:/-]*$/.test(program);
}

/** It sets variables and does nothing else. */
function isExport([program, ...args]: readonly string[]): boolean {
  return program === "export" && args.every((word) => /^[A-Za-z_][A-Za-z0-9_]*(=|$)/.test(word));
}

function nameBeforeValue(word: string): string {
  return word.split("=", 1)[0] ?? "";
}
