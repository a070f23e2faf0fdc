import { splitSearchWords } from "../../session-query.ts";
import type { Sql } from "./sql.ts";
import type { SqlValue } from "./engine.ts";

/**
 * A trigram index over message text, which finds parts of words and words in scripts without spaces. The index is
 * derived from the table `said` alone and can be rebuilt at any time. An engine without FTS5 works without the index.
 */
const TABLES = `
  CREATE VIRTUAL TABLE said_index USING fts5(text, content='said', content_rowid='id', tokenize='trigram');
  INSERT INTO said_index(said_index) VALUES ('rebuild');`;

const TRIGGERS = `
  CREATE TRIGGER said_added AFTER INSERT ON said BEGIN
    INSERT INTO said_index(rowid, text) VALUES (new.id, new.text);
  END;
  CREATE TRIGGER said_removed AFTER DELETE ON said BEGIN
    INSERT INTO said_index(said_index, rowid, text) VALUES ('delete', old.id, old.text);
  END;`;

export function hasFullText(sql: Sql): boolean {
  return sql.get("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'") !== undefined;
}

/** True if the index exists and its triggers keep it up to date. */
export function isIndexed(sql: Sql): boolean {
  return sql.get("SELECT 1 FROM sqlite_schema WHERE name = 'said_removed'") !== undefined;
}

/**
 * Adds or removes the triggers of the index. An engine that cannot write the index removes the triggers; the next
 * engine with FTS5 rebuilds the index.
 */
export function maintainSearchIndex(sql: Sql, isEnabled: boolean): void {
  if (isIndexed(sql) === isEnabled) return;
  sql.transaction(() => {
    if (!isEnabled) return sql.exec("DROP TRIGGER said_added; DROP TRIGGER said_removed");
    sql.exec(`DROP TABLE IF EXISTS said_index; ${TABLES} ${TRIGGERS}`);
  });
}

export interface SqlCondition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/**
 * One condition per word: the word occurs in the id, the title or a message of the session. Words shorter than three
 * characters cannot use the trigram index.
 */
export function createSearchConditions(search: string, indexed: boolean): readonly SqlCondition[] {
  return splitSearchWords(search).map((word) => {
    const pattern = `%${word.replaceAll(/[\\%_]/g, "\\$&")}%`;
    const viaIndex = indexed && Array.from(word).length >= 3;
    const texts = viaIndex
      ? "SELECT said.session FROM said_index JOIN said ON said.id = said_index.rowid WHERE said_index MATCH ?"
      : "SELECT session FROM said WHERE text LIKE ? ESCAPE '\\'";
    return {
      sql: `(id LIKE ? ESCAPE '\\' OR title LIKE ? ESCAPE '\\' OR key IN (${texts}))`,
      values: [pattern, pattern, viaIndex ? `"${word.replaceAll('"', '""')}"` : pattern],
    };
  });
}
