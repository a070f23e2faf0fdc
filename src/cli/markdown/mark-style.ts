import type { Style } from "../../inspect/trace-style.ts";

/** A text style of Markdown. */
export type Mark = "strong" | "emphasis" | "code" | "struck" | "link" | "dim" | "heading";

/** A text with its marks. */
export interface Piece {
  readonly text: string;
  readonly marks: readonly Mark[];
}

export type Paint = (text: string) => string;

/** The appearance of marks. Without colors, the Markdown source is printed instead. */
export interface MarkStyle {
  readonly hasColours: boolean;
  readonly paints: { readonly [Name in Mark]: Paint };
}

/** Creates the style of all Markdown output. `extraPaints` is null without colors. */
export function createMarkStyle(
  style: Style,
  extraPaints: Pick<MarkStyle["paints"], "emphasis" | "struck" | "link"> | null,
): MarkStyle {
  const same: Paint = (text) => text;
  const { emphasis, struck, link } = extraPaints ?? { emphasis: same, struck: same, link: same };
  const { strong, dim, note } = style;
  const heading: Paint = (text) => strong(note(text));
  return {
    hasColours: extraPaints !== null,
    paints: { strong, dim, code: note, heading, emphasis, struck, link },
  };
}

export function paint({ text, marks }: Piece, { paints }: MarkStyle): string {
  return marks.reduce((paintedText, mark) => paints[mark](paintedText), text);
}

export function hasSameMarks(piece: Piece, other: Piece): boolean {
  return piece.marks.join() === other.marks.join();
}
