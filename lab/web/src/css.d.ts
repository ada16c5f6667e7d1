// A style sheet is imported for its side effects.
declare module "*.css";
