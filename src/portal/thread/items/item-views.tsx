import type { ReactNode } from "react";
import { AgentMessage, Thought } from "./agent-message.tsx";
import { ArtifactCard } from "./artifact-card.tsx";
import { CompactionCard } from "./compaction-card.tsx";
import { FileChangesCard } from "./file-changes-card.tsx";
import { HandoffCard } from "./handoff-card.tsx";
import { Notice, ReminderNote } from "./notice.tsx";
import { ToolCard } from "./tool-card.tsx";
import { TurnApproval } from "./approval-line.tsx";
import { UserMessage } from "./user-message.tsx";
import { WorkerCard } from "./worker-card.tsx";
import type { ThreadItem, ThreadItemKind } from "../../state/session-view.ts";

type ItemOf<Kind extends ThreadItemKind> = {
  [One in Kind]: Extract<ThreadItem, { readonly kind: One }>;
}[Kind];

/** The view of each kind of item. A new kind adds its row here; the thread itself does not change. */
const ITEM_VIEWS: {
  readonly [Kind in ThreadItemKind]: (props: { readonly item: ItemOf<Kind> }) => ReactNode;
} = {
  user: UserMessage,
  text: AgentMessage,
  thought: Thought,
  tool: ToolCard,
  reminder: ReminderNote,
  approval: TurnApproval,
  notice: Notice,
  worker: WorkerCard,
  artifact: ArtifactCard,
  handoff: HandoffCard,
  compaction: CompactionCard,
  files: FileChangesCard,
};

export function ItemView({ item }: { readonly item: ThreadItem }): ReactNode {
  return createItemElement(item.kind, item);
}

function createItemElement<Kind extends ThreadItemKind>(kind: Kind, item: ItemOf<Kind>): ReactNode {
  const View: (props: { readonly item: ItemOf<Kind> }) => ReactNode = ITEM_VIEWS[kind];
  return <View item={item} />;
}
