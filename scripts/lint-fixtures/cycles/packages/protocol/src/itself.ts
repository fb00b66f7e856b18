// refused
export * as itself from './itself.ts';
