import type { JsonObject, JsonValue } from "../../data/json.ts";
import type { SimpleCommand } from "../../domain/policy/policy-decision.ts";
import { HOLE } from "../matching/wildcard.ts";
import { formatLineVariants } from "./command-lines.ts";
import { resolveLaunch } from "./launchers.ts";
import { scanShell, type ScannedCommand } from "./shell-scan.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface CommandFacts {
  readonly command: string;
  readonly simpleCommands: readonly SimpleCommand[];
  readonly commandLines?: readonly string[];
  readonly commandUnparsed?: string;
}

const COMMAND_ARGUMENTS = ["command", "cmd", "argv"] as const;

/** The commands which a call's arguments would run. Undefined if the arguments name no command. */
export function readCommandFacts(input: JsonObject): CommandFacts | undefined {
  const values = COMMAND_ARGUMENTS.map((name) => readOwn(input, name)).filter(
    (value) => value !== undefined && value !== null,
  );
  if (values.length === 0) return undefined;
  const scan: CommandScan = { commands: [], lines: new Set(), depth: 0, text: 0, lineText: 0 };
  if (values.length > 1) markUnparsed(scan, "it is passed more than once");
  const texts = values.map((value) => readCommandValue(value, readOwn(input, "args"), scan));
  scanEnvironment(input, scan);
  const fullText = texts
    .join("; ")
    .replaceAll(/[ \t\n]+/g, " ")
    .trim();
  const command =
    fullText.length > MAX_COMMAND_LENGTH ? `${fullText.slice(0, MAX_COMMAND_LENGTH)}…` : fullText;
  const simpleCommands = scan.commands.slice(0, MAX_COMMANDS);
  scan.lines.delete(command);
  return {
    command,
    simpleCommands,
    ...(scan.lines.size > 0 && { commandLines: [...scan.lines] }),
    ...omitUndefined({ commandUnparsed: scan.problem }),
  };
}

const MAX_COMMAND_LENGTH = 4_096;
const TOO_LONG = `it is longer than ${MAX_COMMAND_LENGTH} characters`;
const MAX_COMMANDS = 24;
/** Characters of all simple commands together: consecutive launchers repeat the words after them. */
export const MAX_TEXT_LENGTH = 4 * MAX_COMMAND_LENGTH;

interface CommandScan {
  readonly commands: SimpleCommand[];
  readonly lines: Set<string>;
  /** The first reason why the analysis is uncertain. */
  problem?: string;
  /** Nesting depth of shells started inside shells. */
  depth: number;
  /** Total length of the commands, and of the lines. */
  text: number;
  lineText: number;
}

function markUnparsed(scan: CommandScan, why: string): void {
  scan.problem ??= why;
}

/** Adds a command which may run anything. */
function addUnknownCommand(scan: CommandScan, why: string): void {
  markUnparsed(scan, why);
  scan.commands.unshift({ program: null, words: [HOLE] });
}

function readOwn(input: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(input, name) ? input[name] : undefined;
}

function readCommandValue(
  value: JsonValue,
  args: JsonValue | undefined,
  scan: CommandScan,
): string {
  const hasArguments = args !== undefined && args !== null && !isEmptyList(args);
  if (isStringList(value)) {
    // Some tools append `args` to the list, others ignore `args`.
    if (hasArguments) addUnknownCommand(scan, "it has both a list and separate arguments");
    const text = value.join(" ");
    if (text.length > MAX_COMMAND_LENGTH) addUnknownCommand(scan, TOO_LONG);
    else readWords(value, scan);
    return text;
  }
  if (typeof value !== "string") {
    addUnknownCommand(scan, "it is not a string");
    return "";
  }
  const text = hasArguments ? joinArguments(value, args, scan) : value;
  if (text.trim() === "") addUnknownCommand(scan, "it is empty");
  else readScript(text, scan);
  return text;
}

function isEmptyList(value: JsonValue): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isStringList(value: JsonValue): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/**
 * Joins a command with separate arguments. Some tools pass both to a shell as one string, others execute them directly.
 * If the two readings could differ, the command counts as not fully analyzed.
 */
function joinArguments(command: string, args: JsonValue, scan: CommandScan): string {
  if (!isStringList(args)) {
    addUnknownCommand(scan, "its arguments are not a list of strings");
    return command;
  }
  const words = [command, ...args];
  const text = words.join(" ");
  if (text.length <= MAX_COMMAND_LENGTH && !words.every((word) => /^[\w@%+=:,./-]+$/.test(word))) {
    markUnparsed(scan, "its arguments may mean something to a shell");
    readWords(words, scan);
  }
  return text;
}

/** Environment variables or another shell can change the meaning of the same command. */
function scanEnvironment(input: JsonObject, scan: CommandScan): void {
  for (const name of ["env", "environment"]) {
    const value = readOwn(input, name);
    if (value !== undefined && value !== null) markUnparsed(scan, "it sets environment variables");
  }
  const shell = readOwn(input, "shell") ?? true;
  const isKnownShell =
    typeof shell === "string" ? KNOWN_SHELL.test(shell) : typeof shell === "boolean";
  if (!isKnownShell) addUnknownCommand(scan, "it selects another shell");
}

const KNOWN_SHELL = /^(\/(usr\/)?bin\/)?(ba|da)?sh$/;

function readScript(text: string, scan: CommandScan): void {
  if (text.length > MAX_COMMAND_LENGTH) return addUnknownCommand(scan, TOO_LONG);
  const { commands, lines, problem } = scanShell(text);
  const started = new Map(commands.map((command) => [command, readScannedCommand(command, scan)]));
  for (const line of lines) {
    const joined = line.filter(({ command }) => command.words.length > 0);
    const texts = formatLineVariants(
      joined.map(({ operator, command }) => {
        const { words } = command;
        return { operator, words, startedWords: started.get(command) ?? words };
      }),
    );
    for (const lineText of texts) addLine(lineText, scan);
  }
  if (problem !== undefined) addUnknownCommand(scan, problem);
}

function addLine(text: string, scan: CommandScan): void {
  if (scan.lines.has(text)) return;
  scan.lineText += text.length;
  if (scan.lineText <= MAX_TEXT_LENGTH) scan.lines.add(text);
  else if (scan.commands[0]?.program !== null)
    addUnknownCommand(scan, "it joins too many commands");
}

/** Returns the words of the program which finally runs. */
function readScannedCommand(
  { words, assignments, redirects }: ScannedCommand,
  scan: CommandScan,
): readonly string[] {
  if (redirects) markUnparsed(scan, "it reads or writes a file by < or >");
  scanVariables(assignments, scan);
  return words.length > 0 ? readWords(words, scan) : words;
}

function scanVariables(names: readonly string[], scan: CommandScan): void {
  const name = names.find(
    (variable) => !HARMLESS_VARIABLES.has(variable) && !LOOP_VARIABLE.test(variable),
  );
  if (name !== undefined) markUnparsed(scan, `it sets ${name}`);
}

/** Almost any other variable makes some program run another program: PATH, PAGER, GIT_SSH_COMMAND, NODE_OPTIONS… */
const HARMLESS_VARIABLES = new Set(["CI", "NODE_ENV", "NO_COLOR", "FORCE_COLOR", "RUST_BACKTRACE"]);

/** Usual loop variables, which no program reads from its environment. */
const LOOP_VARIABLE = /^([a-z]|file|dir|name|item|line)$/;

const MAX_SHELL_DEPTH = 5;

/** Returns the words of the program which finally runs: for a launcher such as `nohup`, the launched program. */
function readWords(words: readonly string[], scan: CommandScan): readonly string[] {
  const [program = "", ...args] = words;
  // Counts a separator after the words, and room for an unknown word.
  scan.text += words.join(" ").length + 3;
  if (scan.commands.length >= MAX_COMMANDS || scan.text > MAX_TEXT_LENGTH) {
    addUnknownCommand(scan, "it runs too many commands");
    return words;
  }
  if (!isPlainProgram(program)) {
    const unknown = [HOLE, ...args];
    scan.commands.push({ program: null, words: unknown });
    markUnparsed(scan, "its program is not a plain name");
    return unknown;
  }
  scan.commands.push({ program, words });
  if (isExport(words)) {
    scanVariables(args.map(readVariableName), scan);
    return words;
  }
  const launch = resolveLaunch(program, args);
  if (launch.type === "program") {
    scanVariables(launch.variables ?? [], scan);
    return readWords(launch.words, scan);
  }
  if (launch.type === "anything") addUnknownCommand(scan, `${program} may start any other program`);
  if (launch.type === "script") readInnerScript(launch.text, scan);
  return words;
}

function readInnerScript(text: string, scan: CommandScan): void {
  if (++scan.depth > MAX_SHELL_DEPTH) return addUnknownCommand(scan, "it starts shells in shells");
  readScript(text, scan);
  scan.depth -= 1;
}

function isPlainProgram(program: string): boolean {
  return program === "[" || /^[\w.+@:/][\w.+@:/-]*$/.test(program);
}

/** Whether `export` only sets variables. In some shells an expanded value can set further variables. */
function isExport([program, ...args]: readonly string[]): boolean {
  return (
    program === "export" && args.every((word) => EXPORT_ARGUMENT.test(word) && !word.includes(HOLE))
  );
}

const EXPORT_ARGUMENT = /^[A-Za-z_][A-Za-z0-9_]*(=|$)/;

function readVariableName(word: string): string {
  return word.split("=", 1)[0] ?? "";
}
