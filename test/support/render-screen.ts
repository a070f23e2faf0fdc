/** What a terminal shows after it was sent this, scrolled-away rows included. As much of one as is needed here. */
export function renderScreen(output: string, columns: number): string[] {
  const rows: string[][] = [[]];
  let [row, column] = [0, 0];
  const at = (): string[] => (rows[row] ??= []);
  // oxlint-disable-next-line no-control-regex -- what terminals are sent
  for (const [sign, count = "", command] of output.matchAll(/\u001b\[([?\d;]*)([A-Za-z])|[^]/gu)) {
    const number = Math.max(1, Number(count) || 1);
    if (command === undefined) {
      if (sign === "\n") row += 1;
      else if (sign === "\r") column = 0;
      else {
        if (column >= columns) [row, column] = [row + 1, 0];
        at()[column] = sign;
        column += 1;
      }
    } else if (command === "A") row = Math.max(0, row - number);
    else if (command === "B") row += number;
    else if (command === "C") column += number;
    else if (command === "D") column = Math.max(0, column - number);
    else if (command === "G") column = number - 1;
    else if (command === "K") at().splice(column);
    else if (command === "J") {
      at().splice(column);
      rows.splice(row + 1);
    }
  }
  const texts: string[] = [];
  for (let index = 0; index < rows.length; index += 1) {
    texts.push(Array.from(rows[index] ?? [], (one: string | undefined) => one ?? " ").join(""));
  }
  return texts.map((text) => text.trimEnd());
}
