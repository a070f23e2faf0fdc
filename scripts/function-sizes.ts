import {
  parseSync,
  Visitor,
  type ArrowFunctionExpression,
  type Expression,
  type Function as FunctionNode,
  type Statement,
} from "oxc-parser";

export interface FunctionSize {
  /** `path:line` */
  readonly name: string;
  readonly lines: number;
  /** Whether the function is a table or a `switch` of short parts, which reads well at any length. */
  readonly isFlat: boolean;
}

/** Lines of a function. Only a flat function may be longer. */
export const MAX_FUNCTION_LINES = 60;

/** Lines of one `case`, property or array item of a flat function. */
const MAX_PART_LINES = 8;

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Lists all functions of a file, with the functions inside of others. */
export function listFunctions(path: string, text: string): FunctionSize[] {
  const sizes: FunctionSize[] = [];
  const add = (node: FunctionNode | ArrowFunctionExpression): void => {
    const line = text.slice(0, node.start).split("\n").length;
    const lines = countLines(text.slice(node.start, node.end));
    sizes.push({ name: `${path}:${line}`, lines, isFlat: isFlat(node, text) });
  };
  new Visitor({
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add,
  }).visit(parseSync(path, text).program);
  return sizes;
}

export function countLines(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}

/** A flat function: short `const` declarations, then one `switch` or one returned table, of short parts. */
function isFlat({ body }: FunctionNode | ArrowFunctionExpression, text: string): boolean {
  if (body === null) return false;
  const parts = body.type === "BlockStatement" ? listBlockParts(body.body) : listTableParts(body);
  return parts?.every((part) => isShort(part, text)) === true;
}

function listBlockParts(statements: readonly Statement[]): Span[] | undefined {
  const declarations = statements.slice(0, -1);
  const parts = listLastParts(statements.at(-1));
  if (parts === undefined) return undefined;
  if (declarations.some(({ type }) => type !== "VariableDeclaration")) return undefined;
  return [...declarations, ...parts];
}

function listLastParts(last: Statement | undefined): Span[] | undefined {
  if (last?.type === "SwitchStatement") return last.cases;
  return last?.type === "ReturnStatement" ? listTableParts(last.argument) : undefined;
}

function listTableParts(table: Expression | null): Span[] | undefined {
  if (table?.type === "ObjectExpression") return table.properties;
  if (table?.type === "ArrayExpression") return table.elements.filter((item) => item !== null);
  return undefined;
}

/** A short part has few lines, no loop and no inner `switch`. */
function isShort(part: Span, text: string): boolean {
  const lines = text.slice(part.start, part.end);
  return countLines(lines) <= MAX_PART_LINES && !/^\s+(?:for|while|do|switch)\b/m.test(lines);
}
