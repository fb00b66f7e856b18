/** The model classes that agents find a model for, from the configuration. */
import { manifestModelClasses, modelClasses, modelClassOf } from '@cairn/protocol';
import type { HostConfig } from '../config/config.ts';

/** The classes that agents of packs and of code can have. */
export const allModelClasses = [...new Set(manifestModelClasses.map(modelClassOf))];

/**
 * The configured classes; all of them with a default model. Where no class is configured, nodes and runs name their
 * models or agents bring a rehearsal, so the class decides nothing and none is refused.
 */
export function servedClasses({
  classes,
  default: usual,
}: HostConfig['models']): readonly (typeof modelClasses)[number][] {
  const named = modelClasses.filter((name) => Object.hasOwn(classes, name));
  return usual === undefined && named.length > 0 ? named : [...new Set([...allModelClasses, ...named])];
}
