import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { SimpleCommand } from "../../domain/policy-decision.ts";
import { HOLE } from "../wildcard.ts";
import { lineTexts } from "./command-lines.ts";
import { launchOf } from "./launchers.ts";
import { scanShell, type ScannedCommand } from "./shell-scan.ts";

export interface CommandFacts {
  readonly command: string;
  readonly simpleCommands: readonly SimpleCommand[];
  readonly commandLines?: readonly string[];
  readonly commandUnparsed?: string;
}

const COMMAND_ARGUMENTS = ["command", "cmd", "argv"] as const;

/** What a call's arguments would run; undefined where they name no command. */
export function commandFacts(input: JsonObject): CommandFacts | undefined {
  const given = COMMAND_ARGUMENTS.map((name) => own(input, name)).filter(
    (value) => value !== undefined && value !== null,
  );
  if (given.length === 0) return undefined;
  const found: Found = { commands: [], lines: new Set(), depth: 0, text: 0, lineText: 0 };
  if (given.length > 1) doubt(found, "it is given more than once");
  const texts = given.map((value) => readGiven(value, own(input, "args"), found));
  noteSurroundings(input, found);
  const whole = texts
    .join("; ")
    .replaceAll(/[ \t\n]+/g, " ")
    .trim();
  const command = whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole;
  const simpleCommands = found.commands.slice(0, MOST_COMMANDS);
  found.lines.delete(command);
  return {
    command,
    simpleCommands,
    ...(found.lines.size > 0 && { commandLines: [...found.lines] }),
    ...(found.doubt !== undefined && { commandUnparsed: found.doubt }),
  };
}

const LONGEST = 4_096;
const TOO_LONG = `it is longer than ${LONGEST} characters`;
const MOST_COMMANDS = 24;
/** Of all simple commands together: launchers in a row repeat what comes after them. */
export const MOST_TEXT = 4 * LONGEST;

interface Found {
  readonly commands: SimpleCommand[];
  readonly lines: Set<string>;
  /** The first reason why it is not certain what runs. */
  doubt?: string;
  /** How many shells are started inside each other. */
  depth: number;
  /** How long the commands are together, and the lines. */
  text: number;
  lineText: number;
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
  const hasArguments = args !== undefined && args !== null && !isEmptyList(args);
  if (isTexts(value)) {
    // Some tools add them to the list, others leave them out.
    if (hasArguments) addUnknown(found, "its arguments stand beside a list");
    const text = value.join(" ");
    if (text.length > LONGEST) addUnknown(found, TOO_LONG);
    else readWords(value, found);
    return text;
  }
  if (typeof value !== "string") {
    addUnknown(found, "it is no text");
    return "";
  }
  const text = hasArguments ? withArguments(value, args, found) : value;
  if (text.trim() === "") addUnknown(found, "it is empty");
  else readScript(text, found);
  return text;
}

function isEmptyList(value: JsonValue): boolean {
  return Array.isArray(value) && value.length === 0;
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
    addUnknown(found, "its arguments are no list of texts");
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
  const { commands, lines, problem } = scanShell(text);
  const started = new Map(commands.map((command) => [command, readScanned(command, found)]));
  for (const line of lines) {
    const joined = line.filter(({ command }) => command.words.length > 0);
    const texts = lineTexts(
      joined.map(({ operator, command }) => {
        const { words } = command;
        return { operator, words, started: started.get(command) ?? words };
      }),
    );
    for (const one of texts) addLine(one, found);
  }
  if (problem !== undefined) addUnknown(found, problem);
}

function addLine(text: string, found: Found): void {
  if (found.lines.has(text)) return;
  found.lineText += text.length;
  if (found.lineText <= MOST_TEXT) found.lines.add(text);
  else if (found.commands[0]?.program !== null) addUnknown(found, "it joins too much");
}

/** The words of what runs in the end. */
function readScanned(
  { words, assignments, redirects }: ScannedCommand,
  found: Found,
): readonly string[] {
  if (redirects) doubt(found, "it reads or writes a file by < or >");
  noteVariables(assignments, found);
  return words.length > 0 ? readWords(words, found) : words;
}

function noteVariables(names: readonly string[], found: Found): void {
  const name = names.find((one) => !HARMLESS_VARIABLES.has(one) && !LOOP_VARIABLE.test(one));
  if (name !== undefined) doubt(found, `it sets ${name}`);
}

/** Almost any other variable makes some program run something else: PATH, PAGER, GIT_SSH_COMMAND, NODE_OPTIONS… */
const HARMLESS_VARIABLES = new Set(["CI", "NODE_ENV", "NO_COLOR", "FORCE_COLOR", "RUST_BACKTRACE"]);

/** Names for one thing after the other, which no program looks for. */
const LOOP_VARIABLE = /^([a-z]|file|dir|name|item|line)$/;

const MOST_SHELLS = 5;

/** The words of what runs in the end: where a program only starts another, of that. */
function readWords(words: readonly string[], found: Found): readonly string[] {
  const [program = "", ...args] = words;
  // With a space after it, and room for one that is unknown.
  found.text += words.join(" ").length + 3;
  if (found.commands.length >= MOST_COMMANDS || found.text > MOST_TEXT) {
    addUnknown(found, "it runs too much");
    return words;
  }
  if (!isPlainProgram(program)) {
    const unknown = [HOLE, ...args];
    found.commands.push({ program: null, words: unknown });
    doubt(found, "the program that it runs is not a plain name");
    return unknown;
  }
  found.commands.push({ program, words });
  if (isExport(words)) {
    noteVariables(args.map(nameBeforeValue), found);
    return words;
  }
  const launch = launchOf(program, args);
  if (launch.type === "program") {
    noteVariables(launch.sets ?? [], found);
    return readWords(launch.words, found);
  }
  if (launch.type === "anything") addUnknown(found, `${program} may start any other program`);
  if (launch.type === "script") readInnerScript(launch.text, found);
  return words;
}

function readInnerScript(text: string, found: Found): void {
  if (++found.depth > MOST_SHELLS) return addUnknown(found, "it starts shells in shells");
  readScript(text, found);
  found.depth -= 1;
}

function isPlainProgram(program: string): boolean {
  return program === "[" || /^[\w.+@:/][\w.+@:/-]*$/.test(program);
}

/** It sets variables and does nothing else. Of a value that the shell completes some shells make more of them. */
function isExport([program, ...args]: readonly string[]): boolean {
  return program === "export" && args.every((word) => EXPORTED.test(word) && !word.includes(HOLE));
}

const EXPORTED = /^[A-Za-z_][A-Za-z0-9_]*(=|$)/;

function nameBeforeValue(word: string): string {
  return word.split("=", 1)[0] ?? "";
}
