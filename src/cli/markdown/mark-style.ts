import type { Style } from "../../inspect/trace-style.ts";

/** How a piece of text is set off. */
export type Mark = "strong" | "emphasis" | "code" | "struck" | "link" | "dim" | "heading";

/** A text and its marks. */
export interface Piece {
  readonly text: string;
  readonly marks: readonly Mark[];
}

export type Paint = (text: string) => string;

/** How marks look. Where there are no colours, what the author wrote is shown instead. */
export interface MarkStyle {
  readonly hasColours: boolean;
  readonly paints: { readonly [Name in Mark]: Paint };
}

/** The same for everything that is said. */
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
  return marks.reduce((shown, mark) => paints[mark](shown), text);
}

export function hasSameMarks(piece: Piece, other: Piece): boolean {
  return piece.marks.join() === other.marks.join();
}
