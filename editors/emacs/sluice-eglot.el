;;; sluice-eglot.el --- What Eglot does for stream programs -*- lexical-binding: t -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Eglot asks for hints when the text changes or is scrolled.  The initiation interval is ready later: here Eglot learns to ask again when the
;; server says so.  `sluice-mode' loads this with Eglot.

;;; Code:

(require 'cl-lib)
(require 'eglot)

(declare-function eglot--update-hints-1 "eglot")

(defclass sluice-server (eglot-lsp-server) ()
  :documentation "The language server of Sluice.")

(cl-defmethod eglot-client-capabilities ((_server sluice-server))
  "What Eglot can do, and that it asks for hints again when it is told to."
  (let ((all (cl-call-next-method)))
    (plist-put all :workspace (append (plist-get all :workspace) '(:inlayHint (:refreshSupport t))))))

(defun sluice-eglot--refresh-hints (server)
  "Asks SERVER for the hints of its buffers again."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and (derived-mode-p 'sluice-mode)
                 (bound-and-true-p eglot-inlay-hints-mode)
                 (fboundp 'eglot--update-hints-1)
                 (eq (eglot-current-server) server))
        (save-restriction
          (widen)
          (eglot--update-hints-1 (point-min) (point-max)))))))

(cl-defmethod eglot-handle-request ((server sluice-server) (_method (eql workspace/inlayHint/refresh)) &rest _)
  "Asks for hints once SERVER has been answered: it may wait for that."
  (run-at-time 0 nil #'sluice-eglot--refresh-hints server)
  nil)

(provide 'sluice-eglot)

;;; sluice-eglot.el ends here
