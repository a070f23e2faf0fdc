import { HOLE } from "../matching/wildcard.ts";

/** A simple command as written in a shell script. */
export interface ScannedCommand {
  /** Without quotes. An expansion becomes a hole, together with the rest of its word. */
  readonly words: readonly string[];
  /** Names of the variables set for the command, or for the commands after it. */
  readonly assignments: readonly string[];
  /** Whether `<` or `>` reads or writes a file. */
  readonly redirects: boolean;
}

export interface ScannedText {
  /** In order of their start, including commands inside `$( )` and `( )`. */
  readonly commands: readonly ScannedCommand[];
  /** The same commands grouped into lines with their operators. Each `$( )` has a separate line. */
  readonly lines: readonly (readonly JoinedCommand[])[];
  /** Why the scan stopped before the end. The rest of the script is unknown. Undefined if the scan is complete. */
  readonly problem?: string;
}

export interface JoinedCommand {
  /** The preceding operator: `|`, `&&`, `||`, `&`, or `;` for all others. */
  readonly operator: string;
  readonly command: ScannedCommand;
}

/**
 * Finds every simple command in a script for `sh`. Supports only the part of the language which all shells read alike.
 * On any other construct the scan stops with a `problem`: an attacker could exploit a guess.
 */
export function scanShell(text: string): ScannedText {
  const scan: Scan = {
    text,
    position: 0,
    depth: 0,
    commands: [],
    lines: [],
    line: [],
    operator: "",
  };
  if (UNREADABLE.test(text)) stopScan(scan, "it has control characters");
  scanLine(scan, "");
  const { commands, lines, problem } = scan;
  return problem === undefined ? { commands, lines } : { commands, lines, problem };
}

/**
 * Control characters except tab and line feed, which shells treat as blanks. A hole character in the script would be
 * mistaken for a placeholder.
 */
const UNREADABLE = /[^\P{Cc}\t\n]|\uFFFC|\p{Surrogate}/u;

interface Scan {
  readonly text: string;
  position: number;
  depth: number;
  readonly commands: ScannedCommand[];
  readonly lines: JoinedCommand[][];
  /** The line being read, and the operators since its last command. */
  line: JoinedCommand[];
  operator: string;
  problem?: string;
}

/** Ends the scan: every loop sees the end of the text. */
function stopScan(scan: Scan, problem: string): void {
  scan.problem ??= problem;
  scan.position = scan.text.length;
}

/** The next character, after any line continuations. "" at the end. */
function peek(scan: Scan): string {
  while (scan.text.startsWith("\\\n", scan.position)) scan.position += 2;
  return scan.text.charAt(scan.position);
}

function skipBlanks(scan: Scan): string {
  for (let next = peek(scan); next === " " || next === "\t"; next = peek(scan)) scan.position += 1;
  return peek(scan);
}

function skipComment(scan: Scan): void {
  const end = scan.text.indexOf("\n", scan.position);
  scan.position = end < 0 ? scan.text.length : end;
}

const MAX_NESTING = 40;

/** Scans commands which are not joined to the surrounding commands. */
function scanLine(scan: Scan, closing: ")" | ""): void {
  const { line, operator: signs } = scan;
  scan.line = [];
  scan.operator = "";
  scan.lines.push(scan.line);
  scanList(scan, closing);
  scan.line = line;
  scan.operator = signs;
}

/** Scans consecutive commands until the closing bracket or the end. */
function scanList(scan: Scan, closing: ")" | ""): void {
  if (++scan.depth > MAX_NESTING) stopScan(scan, "it is nested too deeply");
  for (;;) {
    const next = skipBlanks(scan);
    if (next === "" || next === ")") {
      if (next !== closing) stopScan(scan, "its brackets do not match");
      else if (closing !== "") scan.position += 1;
      scan.depth -= 1;
      return;
    }
    if (next === "(") scanBrackets(scan, scanList);
    else if (";&|\n".includes(next)) scanOperator(scan, next);
    else scanCommand(scan);
  }
}

function scanBrackets(scan: Scan, scanInside: typeof scanList): void {
  scan.position += 1;
  if (peek(scan) === "(") stopScan(scan, "it has arithmetic with (( ))");
  else scanInside(scan, ")");
}

function scanOperator(scan: Scan, operator: string): void {
  scan.position += 1;
  scan.operator += operator;
  if (operator === ";" && peek(scan) === ";") stopScan(scan, "it has ;;");
  // In some shells `&>` redirects both outputs; in others `&` ends the command and `>` starts the next.
  if (operator === "&" && peek(scan) === ">") stopScan(scan, "it has &>");
}

interface OpenCommand {
  readonly words: string[];
  readonly assignments: string[];
  redirects: boolean;
  hasBegun: boolean;
}

function scanCommand(scan: Scan): void {
  const command: OpenCommand = { words: [], assignments: [], redirects: false, hasBegun: false };
  // Added before its words are scanned, so that the command precedes the commands inside its words.
  const startPosition = scan.commands.push(command) - 1;
  for (;;) {
    const next = skipBlanks(scan);
    if (isRedirect(scan)) scanRedirect(scan, command);
    else if (next === "" || ";&|\n)".includes(next)) break;
    else if (next === "(") stopScan(scan, "it has a bracket after a word");
    else if (next === "#") skipComment(scan);
    else if (!scanNextWord(scan, command)) break;
  }
  const { words, assignments, redirects } = command;
  if (words.length + assignments.length === 0 && !redirects) {
    scan.commands.splice(startPosition, 1);
    return;
  }
  const [, operator = ";"] = /(\|\||&&|\||&)[&\n]*$/.exec(scan.operator) ?? [];
  scan.line.push({ operator, command });
  scan.operator = "";
}

/** Returns false after a reserved word, which is followed by another command. */
function scanNextWord(scan: Scan, command: OpenCommand): boolean {
  const start = scan.position;
  const word = scanWord(scan);
  const written = scan.text.slice(start, scan.position).replaceAll("\\\n", "");
  if (/^\d+$/.test(written) && "<>".includes(peek(scan) || " ")) {
    // Some shells read a number of several digits as an argument.
    if (written.length > 1) stopScan(scan, "it redirects by a number of several digits");
    return true;
  }
  if (written.startsWith("{") && isRedirect(scan)) stopScan(scan, "it redirects by a name");
  // Reserved words are recognized only at the start of a command.
  if (!command.hasBegun) {
    if (BEFORE_COMMANDS.has(written)) return false;
    if (written === "for") return scanFor(scan, command);
    if (UNSUPPORTED_WORDS.has(written)) stopScan(scan, `it has ${written}`);
  }
  command.hasBegun = true;
  const [, name] = /^([A-Za-z_][A-Za-z0-9_]*)\+?=/.exec(written) ?? [];
  if (name === undefined || command.words.length > 0)
    command.words.push(written === "[" ? "[" : word);
  else command.assignments.push(name);
  return true;
}

/** Reserved words followed by a command, as at the start of a line. */
const BEFORE_COMMANDS = new Set("if then else elif fi while until do done time ! { }".split(" "));
const UNSUPPORTED_WORDS = new Set("case esac select function coproc [[ ]]".split(" "));

/** `for name in words`: the name is assigned and the words are data. The loop body follows as further commands. */
function scanFor(scan: Scan, command: OpenCommand): false {
  const name = scanPlainWord(scan);
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) command.assignments.push(name);
  else stopScan(scan, "it has for without a plain name");
  for (let next = skipBlanks(scan); !";&|\n<>()#".includes(next); next = skipBlanks(scan)) {
    if (scanPlainWord(scan) === "do") break;
  }
  return false;
}

/** The next word as written. */
function scanPlainWord(scan: Scan): string {
  skipBlanks(scan);
  const start = scan.position;
  scanWord(scan);
  return scan.text.slice(start, scan.position).replaceAll("\\\n", "");
}

function isRedirect(scan: Scan): boolean {
  const next = peek(scan);
  return next === "<" || next === ">";
}

function scanRedirect(scan: Scan, command: OpenCommand): void {
  let operator = "";
  for (let next = peek(scan); next !== "" && "<>&|".includes(next); next = peek(scan)) {
    operator += next;
    scan.position += 1;
  }
  command.hasBegun = true;
  if (!REDIRECTS.has(operator)) return stopScan(scan, `it has ${operator}`);
  const next = skipBlanks(scan);
  if (next === "" || ";\n()#".includes(next))
    return stopScan(scan, `it has ${operator} without a file`);
  const target = scanWord(scan);
  const isCopy = operator.endsWith("&") && /^(\d+|-)$/.test(target);
  if (!isCopy && target !== "/dev/null") command.redirects = true;
}

const REDIRECTS = new Set(["<", ">", ">>", ">|", "<>", ">&", "<&"]);

/** A word while it is being scanned. */
interface OpenWord {
  text: string;
  /** Text after a hole is dropped: the hole may expand to anything. */
  hasHole: boolean;
}

function appendToWord(word: OpenWord, text: string): void {
  if (!word.hasHole) word.text += text;
  if (text === HOLE) word.hasHole = true;
}

function scanWord(scan: Scan): string {
  const word: OpenWord = { text: "", hasHole: false };
  for (let next = peek(scan); next !== ""; next = peek(scan)) {
    if (" \t\n;&|<>()".includes(next)) break;
    scan.position += 1;
    if (next === "'") scanSingleQuotes(scan, word);
    else if (next === '"') scanDoubleQuotes(scan, word);
    else if (next === "\\") appendToWord(word, readCharacter(scan));
    else if (next === "$") scanDollar(scan, word, `'"`);
    else if (next === "`") stopScan(scan, "it has a backquote");
    else appendToWord(word, isExpanded(next, word.text) ? HOLE : next);
  }
  return word.text;
}

/** A tilde is expanded to a home folder only at the start of a word or value. */
function isExpanded(sign: string, previousText: string): boolean {
  return sign === "~" ? "=:".includes(previousText.slice(-1)) : "*?[{".includes(sign);
}

function readCharacter(scan: Scan): string {
  const next = scan.text.charAt(scan.position);
  if (next === "") stopScan(scan, "it ends with a backslash");
  scan.position += 1;
  return next;
}

function scanSingleQuotes(scan: Scan, word: OpenWord): void {
  const end = scan.text.indexOf("'", scan.position);
  if (end < 0) return stopScan(scan, "a quote is not closed");
  appendToWord(word, scan.text.slice(scan.position, end));
  scan.position = end + 1;
}

function scanDoubleQuotes(scan: Scan, word: OpenWord): void {
  for (let next = peek(scan); next !== '"'; next = peek(scan)) {
    if (next === "") return stopScan(scan, "a quote is not closed");
    scan.position += 1;
    if (next === "$") scanDollar(scan, word, "");
    else if (next === "`") stopScan(scan, "it has a backquote");
    else if (next === "\\" && '$`"\\'.includes(scan.text.charAt(scan.position) || " "))
      appendToWord(word, readCharacter(scan));
    else appendToWord(word, next);
  }
  scan.position += 1;
}

/**
 * Scans an expansion after a dollar sign. `quotes` lists the quotes which start another kind of string at this
 * position.
 */
function scanDollar(scan: Scan, word: OpenWord, quotes: string): void {
  const next = peek(scan);
  if (next === "(") {
    scanBrackets(scan, scanLine);
    return appendToWord(word, HOLE);
  }
  const variable = /^(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])/;
  const isBraced = next === "{";
  if (isBraced) scan.position += 1;
  const [name] = variable.exec(scan.text.slice(scan.position)) ?? [];
  if (name !== undefined) {
    scan.position += name.length;
    const nextCharacter = peek(scan);
    if (isBraced ? nextCharacter !== "}" : nextCharacter === "[")
      return stopScan(scan, "it has ${ } with more than a name");
    if (isBraced) scan.position += 1;
    return appendToWord(word, HOLE);
  }
  if (next !== "" && `{[\`\\${quotes}`.includes(next)) return stopScan(scan, `it has $${next}`);
  appendToWord(word, "$");
}
