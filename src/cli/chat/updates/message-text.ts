import type { Style } from "../../../inspect/trace-style.ts";
import type { MarkStyle } from "../../markdown/mark-style.ts";
import { createMarkdown, type Markdown, type MarkdownState } from "../../markdown/markdown.ts";

export interface MessageTextOptions {
  readonly style: Style;
  readonly marks: MarkStyle;
  readonly width: () => number;
}

/** The text of the message that arrives now, as rows of a terminal. A returned row never changes. */
export interface MessageText {
  /** The source of the open message. Undefined without an open message. */
  readonly source: string | undefined;
  /** Adds text to the open message, or opens a message of this source. Returns the rows that are complete. */
  add(source: string, text: string, isThought: boolean): readonly string[];
  /** Ends the open message. Returns its remaining rows. */
  end(): readonly string[];
  /** The rows of the unfinished line. */
  openRows(): readonly string[];
}

interface OpenMessage {
  readonly source: string;
  readonly codec: Markdown;
  readonly text: MarkdownState;
  readonly formatRow: (row: string) => string;
}

export function createMessageText({ style, marks, width }: MessageTextOptions): MessageText {
  const spoken = createMarkdown({ style: marks, width });
  const thought = createMarkdown({ style: createThoughtStyle(marks), width: () => width() - 2 });
  let open: OpenMessage | undefined;

  function openMessage(source: string, isThought: boolean): OpenMessage {
    const codec = isThought ? thought : spoken;
    const formatRow = (row: string): string => (isThought ? style.dim(`┊ ${row}`) : row);
    return { source, codec, text: codec.initial(), formatRow };
  }

  return {
    get source() {
      return open?.source;
    },
    add(source, text, isThought) {
      const message = (open ??= openMessage(source, isThought));
      const rows: string[] = [];
      message.codec.step(message.text, text, (row) => rows.push(message.formatRow(row)));
      return rows;
    },
    end() {
      const message = open;
      open = undefined;
      const rows: string[] = [];
      message?.codec.finish(message.text, (row) => rows.push(message.formatRow(row)));
      return rows;
    },
    openRows: () => (open === undefined ? [] : open.codec.openRows(open.text).map(open.formatRow)),
  };
}

/** Thoughts are dim as a whole, so these marks have no additional style. */
function createThoughtStyle({ paints }: MarkStyle): MarkStyle {
  const same = (text: string): string => text;
  const { emphasis, struck, link } = paints;
  const plain = { strong: same, code: same, heading: same, dim: same };
  return { hasColours: false, paints: { ...plain, emphasis, struck, link } };
}
