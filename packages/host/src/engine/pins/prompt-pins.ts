/** The prompt templates of a run. The run pins them when it starts; a changed or removed template does not affect it. */
import type { PromptPin, PromptSource, PromptTemplate } from '../ports.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { Pinned } from './pinned.ts';

type Pins = Readonly<Record<string, PromptPin>>;

export interface PromptPins {
  /**
   * Finds the pins for a new run of the workflow. A template that the host lacks has no pin, and the node that refers to
   * it fails. Null when no node refers to a template.
   */
  find(workflow: Workflow): Promise<Pins | null>;
  templates(pins: Pins): Promise<Pinned['prompts']>;
}

export function createPromptPins(source: PromptSource | null): PromptPins {
  /** Every run of a definition refers to the same templates. */
  const known = new WeakMap<object, readonly string[]>();
  const refsOf = (workflow: Workflow): readonly string[] => {
    const refs = known.get(workflow.nodes) ?? promptRefs(workflow);
    known.set(workflow.nodes, refs);
    return refs;
  };
  return {
    async find(workflow) {
      if (source === null) return null;
      const refs = refsOf(workflow);
      return refs.length === 0 ? null : source.pin(refs);
    },
    async templates(pins) {
      const templates = new Map<string, PromptTemplate>();
      for (const [ref, { hash }] of Object.entries(pins)) {
        if (source !== null) templates.set(ref, await source.template(hash));
      }
      return templates;
    },
  };
}

function promptRefs({ nodes }: Workflow): readonly string[] {
  const refs = new Set<string>();
  for (const compiled of nodes.values()) {
    if (compiled.node.disabled === true) continue;
    for (const ref of compiled.type.promptRefs?.(compiled) ?? []) refs.add(ref);
  }
  return [...refs].sort();
}
