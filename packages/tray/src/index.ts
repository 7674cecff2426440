export { ICON_NAMES, type IconName, iconOf } from './icon.js';
export { type Action, type MenuItem, type MenuModel, type MenuOptions, menuModel } from './menu.js';
export { INITIAL, reduce, type TrayInput, type TrayState } from './state.js';
