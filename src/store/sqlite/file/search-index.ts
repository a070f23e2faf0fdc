import { splitSearchWords } from "../../session-query.ts";
import type { Sql } from "./sql.ts";
import type { SqlValue } from "./engine.ts";

/**
 * What was said, by every three letters that follow each other: that finds parts of words, and words of scripts that
 * have no spaces. It is made of the table `said` alone, so it can be made again; an engine without FTS5 leaves it out.
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

/** Whether the index is there and follows the table. */
export function isIndexed(sql: Sql): boolean {
  return sql.get("SELECT 1 FROM sqlite_schema WHERE name = 'said_removed'") !== undefined;
}

/** An engine that cannot write the index takes its triggers away; the next that can makes it anew. */
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

/** For each word that it occurs in the id, the title or what was said. */
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
