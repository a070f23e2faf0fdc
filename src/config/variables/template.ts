import { invalidOptionError } from "../option-reader.ts";

/** A piece of a text, or the variable that stands there. */
export type TemplatePart = { readonly text: string } | { readonly env: string };

/** A text in which `${NAME}` stands for a variable, and `$${` for itself. */
export function readTemplate(text: string, path: string): readonly TemplatePart[] {
  return text
    .split(/(\$?\$\{[^}]*\}?)/)
    .filter((piece) => piece !== "")
    .map((piece): TemplatePart => {
      if (piece.startsWith("$${")) return { text: piece.slice(1) };
      if (!piece.startsWith("${")) return { text: piece };
      const [, env] = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(piece) ?? [];
      if (env !== undefined) return { env };
      const message = `${path} has a \${ without the name of a variable, as in \${NAME}; write $\${ for the text itself`;
      throw invalidOptionError(path, message);
    });
}
