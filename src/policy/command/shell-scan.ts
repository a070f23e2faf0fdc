import { HOLE } from "../matching/wildcard.ts";

/** One simple command as it stands in a shell's text. */
export interface ScannedCommand {
  /** Without quotes; what the shell puts in is a hole, and with it the rest of the word. */
  readonly words: readonly string[];
  /** Names of the variables that it sets for itself, or for what follows. */
  readonly assignments: readonly string[];
  /** Whether a file is read or written by `<` or `>`. */
  readonly redirects: boolean;
}

export interface ScannedText {
  /** In order of their beginning, those inside `$( )` and `( )` too. */
  readonly commands: readonly ScannedCommand[];
  /** The same as they are joined; those of a `$( )` make a line of their own. */
  readonly lines: readonly (readonly JoinedCommand[])[];
  /** Why the text was not understood to its end. What else it runs is unknown then. */
  readonly problem?: string;
}

export interface JoinedCommand {
  /** What stands before it: `|`, `&&`, `||`, `&`, or `;` for all else. */
  readonly operator: string;
  readonly command: ScannedCommand;
}

/**
 * Finds every simple command in a text for `sh`. It takes the part of the language that all shells read alike; where
 * anything else comes up it stops and says so, for a guess would be an attacker's way in.
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

/** Spaces, tabs and line ends are read as shells do; a hole in the text would be mistaken for one of ours. */
const UNREADABLE = /[^\P{Cc}\t\n]|\uFFFC|\p{Surrogate}/u;

interface Scan {
  readonly text: string;
  position: number;
  depth: number;
  readonly commands: ScannedCommand[];
  readonly lines: JoinedCommand[][];
  /** The line that is being read, and what came in it since the last command. */
  line: JoinedCommand[];
  operator: string;
  problem?: string;
}

/** Ends the scan where it stands: every loop sees the end of the text. */
function stopScan(scan: Scan, problem: string): void {
  scan.problem ??= problem;
  scan.position = scan.text.length;
}

/** The next character, past line continuations; "" at the end. */
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

/** Commands that nothing joins with those around them. */
function scanLine(scan: Scan, closing: ")" | ""): void {
  const { line, operator: signs } = scan;
  scan.line = [];
  scan.operator = "";
  scan.lines.push(scan.line);
  scanList(scan, closing);
  scan.line = line;
  scan.operator = signs;
}

/** Commands one after the other, until the closing bracket or the end. */
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
  if (peek(scan) === "(") stopScan(scan, "it calculates with (( ))");
  else scanInside(scan, ")");
}

function scanOperator(scan: Scan, operator: string): void {
  scan.position += 1;
  scan.operator += operator;
  if (operator === ";" && peek(scan) === ";") stopScan(scan, "it has ;;");
  // One shell redirects both outputs by it; another ends the command there, and begins the next.
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
  // Noted at once, so that it stands before the commands inside its words.
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

/** False after a word of the shell's own, which is followed by another command. */
function scanNextWord(scan: Scan, command: OpenCommand): boolean {
  const start = scan.position;
  const word = scanWord(scan);
  const written = scan.text.slice(start, scan.position).replaceAll("\\\n", "");
  if (/^\d+$/.test(written) && "<>".includes(peek(scan) || " ")) {
    // Of more than one digit some shells make an argument.
    if (written.length > 1) stopScan(scan, "it redirects by a number of several digits");
    return true;
  }
  if (written.startsWith("{") && isRedirect(scan)) stopScan(scan, "it redirects by a name");
  // The shell's own words are read as such only where a command begins.
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

/** After these comes a command, as at the beginning of a line. */
const BEFORE_COMMANDS = new Set("if then else elif fi while until do done time ! { }".split(" "));
const UNSUPPORTED_WORDS = new Set("case esac select function coproc [[ ]]".split(" "));

/** `for name in words`: the name is set, the words are data; what is done with them follows. */
function scanFor(scan: Scan, command: OpenCommand): false {
  const name = scanPlainWord(scan);
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) command.assignments.push(name);
  else stopScan(scan, "it has for without a plain name");
  for (let next = skipBlanks(scan); !";&|\n<>()#".includes(next); next = skipBlanks(scan)) {
    if (scanPlainWord(scan) === "do") break;
  }
  return false;
}

/** The next word as it is written. */
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

/** What a word is made of while it is read. */
interface OpenWord {
  text: string;
  /** Nothing is added after a hole: it may be anything. */
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

/** A tilde stands for a home only where a word or a value begins. */
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

/** What follows a dollar sign. `quotes`: those that would begin a text with rules of its own here. */
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
