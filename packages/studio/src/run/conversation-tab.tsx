/** The conversation of a run: items in a list of which only the visible part exists. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useRef } from 'react';
import type { ConversationItem } from '../folds/conversation/items.ts';
import { shortAgent } from '../parts/figures.ts';
import { ConversationEntry } from './conversation-entry.tsx';
import type { RunState } from './run-state.ts';

/** How near to its end the list has to be to follow new items. */
const NEAR_END = 80;

export function ConversationTab({ state }: { readonly state: RunState }) {
  const frame = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const { items } = state.fold.conversation;
  // The list measures all items again when it gets another function.
  const keyOf = useCallback((index: number) => items.get(index)?.seq ?? index, [items]);
  const list = useVirtualizer({
    count: items.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => estimate(items.get(index)),
    getItemKey: keyOf,
    overscan: 8,
    paddingStart: 8,
    paddingEnd: 8,
  });
  const total = list.getTotalSize();
  useLayoutEffect(() => {
    const at = frame.current;
    if (at !== null && follows.current && state.selected === null && total > 0) at.scrollTop = at.scrollHeight;
  }, [total, state.selected]);
  useShown(state, (index) => list.scrollToIndex(index, { align: 'center' }));
  if (items.length === 0)
    return <p className="run-empty second">No events yet. The first ones appear here by themselves.</p>;
  const onScroll = (): void => {
    const at = frame.current;
    if (at !== null) follows.current = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_END;
  };
  return (
    <div
      ref={frame}
      className="run-scroll conversation"
      onScroll={onScroll}
      role="feed"
      aria-label="Conversation"
      tabIndex={-1}
    >
      <div className="conversation-space" style={{ height: total }}>
        {list.getVirtualItems().map(({ index, key, start }) => {
          const item = items.get(index);
          if (item === undefined) return null;
          return (
            <div
              key={key}
              ref={list.measureElement}
              data-index={index}
              className="conversation-place"
              style={{ transform: `translateY(${start}px)` }}
            >
              <Speaker item={item} before={items.get(index - 1)} />
              <ConversationEntry item={item} state={state} isSelected={isAbout(item, state.selected)} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Whether an event is one of the item's. */
const isAbout = (item: ConversationItem, seq: number | null): boolean =>
  seq !== null && (item.seq === seq || item.lastSeq === seq);

/** Scrolls to the item of the selected event when the selection changes. */
function useShown({ selected, fold }: RunState, show: (index: number) => void): void {
  const shown = useRef<number | null>(null);
  const items = fold.conversation.items;
  useEffect(() => {
    if (selected === shown.current) return;
    shown.current = selected;
    if (selected === null) return;
    const index = items.lastWhere(({ seq }) => seq <= selected);
    if (index >= 0) show(index);
  });
}

/** The agent of a turn, over its first item. */
function Speaker({ item, before }: { readonly item: ConversationItem; readonly before: ConversationItem | undefined }) {
  if (item.agentId === null || item.agentId === before?.agentId) return null;
  return (
    <div className="speaker">
      <span className="initials" aria-hidden="true">
        {shortAgent(item.agentId).slice(0, 2)}
      </span>
      <strong>{shortAgent(item.agentId)}</strong>
      <span className="label cut">{item.agentId}</span>
    </div>
  );
}

function estimate(item: ConversationItem | undefined): number {
  if (item?.kind === 'text') return 40 + Math.min(20, Math.ceil(item.text.length / 90)) * 20;
  return item?.kind === 'question' ? 140 : 40;
}
