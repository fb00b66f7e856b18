/** Who may read and write a channel: the nodes that its declaration lists, by id or by type; all of them without a list. */
import type { ChannelDeclaration, WorkflowDefinition, WorkflowNode } from '@cairn/protocol';

type Named = Pick<WorkflowNode, 'id' | 'typeId'>;

export function mayWrite({ access }: ChannelDeclaration, { id, typeId }: Named): boolean {
  const writers = typeof access === 'object' ? access.writers : undefined;
  return writers === undefined || writers.includes(id) || writers.includes(typeId);
}

/** The channels that not every node may read. Sets, because an expression asks for each channel of the run. */
export type ChannelReaders = ReadonlyMap<string, ReadonlySet<string>>;

export function readersOf({ channels = {} }: Pick<WorkflowDefinition, 'channels'>): ChannelReaders {
  const readers = new Map<string, ReadonlySet<string>>();
  for (const [name, { access }] of Object.entries(channels)) {
    if (typeof access === 'object' && access.readers !== undefined) readers.set(name, new Set(access.readers));
  }
  return readers;
}

export function mayRead(readers: ChannelReaders, channel: string, { id, typeId }: Named): boolean {
  const listed = readers.get(channel);
  return listed === undefined || listed.has(id) || listed.has(typeId);
}
