/** Replaces the program of a running host: all of it, or nothing. */
import type { Engine } from '../engine/engine.ts';
import { type FoundWorkflow, registerWorkflows } from './catalogue/workflow-folders.ts';
import type { App } from './define-app.ts';
import type { CreatedServices } from './host-services.ts';

export interface RedefinedHost {
  readonly engine: Engine;
  readonly redefine: CreatedServices['redefine'];
  readonly tenants: readonly string[];
  /** The program that the host started with. */
  readonly app: App;
}

export function redefineHost({ engine, redefine, tenants, app }: RedefinedHost): (app: App) => Promise<void> {
  let current = app;
  const apply = async (next: App): Promise<void> => {
    await redefine(next);
    await registerWorkflows(engine, tenants, ofCode(next.workflows));
  };
  return async (next) => {
    try {
      await apply(next);
      current = next;
    } catch (error) {
      // Parts of it may be in place already.
      await apply(current);
      throw error;
    }
  };
}

export const ofCode = (workflows: App['workflows']): readonly FoundWorkflow[] =>
  workflows.map((definition) => ({ source: `workflow ${definition.id}`, definition }));
