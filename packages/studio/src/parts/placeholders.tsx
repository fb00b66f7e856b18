/** Bones in the places of rows to come, as many as a screen shows. */
import { createElement, Fragment, type ReactNode } from 'react';

interface PlaceholdersProps {
  readonly count: number;
  /** One of them. They are all the same and never change places, and so need no keys. */
  readonly children: ReactNode;
}

export const Placeholders = ({ count, children }: PlaceholdersProps) =>
  createElement(Fragment, null, ...Array.from({ length: count }, () => children));
