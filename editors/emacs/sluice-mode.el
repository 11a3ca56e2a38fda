;;; sluice-mode.el --- Major mode for stream programs (.str) -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: languages
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Colours, indentation and an outline without a server; with Eglot (part of Emacs 29 and later) everything that `sluice lsp' offers:
;;
;;   (add-to-list 'load-path "…/editors/emacs")
;;   (require 'sluice-mode)
;;   (add-hook 'sluice-mode-hook #'eglot-ensure)
;;
;; Commands: C-c C-c runs the program, C-c C-k checks it, C-c C-r shows the report with graph and schedule in a browser,
;; C-c C-t toggles the hints.

;;; Code:

(require 'compile)
(require 'eglot nil t)

(declare-function eglot-current-server "eglot")
(declare-function eglot-execute "eglot")
(declare-function eglot-inlay-hints-mode "eglot")
(declare-function eglot-managed-p "eglot")
(defvar eglot-server-programs)

(defgroup sluice nil
  "Stream programs."
  :group 'languages)

(defcustom sluice-command "sluice"
  "The compiler: a name in the path, or a path."
  :type 'string)

(defcustom sluice-indent 4
  "Columns of indentation for each brace."
  :type 'natnum
  :safe #'natnump)

(defcustom sluice-run-arguments '("--iterations" "10")
  "Options for `sluice run', behind the file."
  :type '(repeat string))

(defcustom sluice-settings nil
  "Settings for the language server, as a plist.
An example: (:hints (:ii :json-false) :schedule (:machine \"cpu\"))."
  :type 'plist)

(defconst sluice--keywords
  '("add" "body" "break" "case" "continue" "default" "do" "duplicate" "else" "enqueue" "feedbackloop" "filter" "for" "handler" "helper"
    "if" "import" "init" "join" "loop" "native" "pipeline" "prework" "return" "roundrobin" "split" "splitjoin" "stateful" "static"
    "struct" "switch" "template" "to" "while" "work"))

(defconst sluice--types
  '("bit" "boolean" "complex" "double" "float" "float2" "float3" "float4" "int" "portal" "void"))

(defconst sluice--constants
  '("false" "pi" "true"))

(defconst sluice--channel-functions
  '("iter" "peek" "pop" "push"))

(defconst sluice--functions
  '("abs" "acos" "acosh" "arg" "asin" "asinh" "atan" "atan2" "atanh" "ceil" "cos" "cosh" "csqrt" "exp" "expm1" "floor" "fmod" "log"
    "log10" "max" "min" "pow" "print" "println" "rint" "round" "sin" "sinh" "sqrt" "tan" "tanh"))

(defconst sluice--stream
  (rx symbol-start (or "filter" "pipeline" "splitjoin" "feedbackloop") symbol-end (+ (any " \t\n")))
  "What stands before the name of a stream where it is declared.")

(defvar sluice-font-lock-keywords
  `((,(concat sluice--stream "\\([A-Za-z_][A-Za-z0-9_]*\\)") 1 font-lock-function-name-face)
    (,(rx symbol-start (or "struct" "native" "helper" "handler") (+ blank) (group (any alpha ?_) (* (any alnum ?_))))
     1 font-lock-function-name-face)
    (,(regexp-opt sluice--keywords 'symbols) . font-lock-keyword-face)
    (,(regexp-opt sluice--types 'symbols) . font-lock-type-face)
    (,(regexp-opt sluice--constants 'symbols) . font-lock-constant-face)
    (,(regexp-opt sluice--channel-functions 'symbols) . font-lock-builtin-face)
    (,(concat (regexp-opt sluice--functions 'symbols) "[ \t]*(") 1 font-lock-builtin-face)
    (,(rx symbol-start (or "add" "body" "loop") (+ blank) (group (any alpha ?_) (* (any alnum ?_))) symbol-end)
     1 font-lock-type-face)
    (,(rx symbol-start (or "Identity" "FileReader" "FileWriter") symbol-end) . font-lock-type-face))
  "What `sluice-mode' colours.")

(defvar sluice-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?' "\"" table)
    (modify-syntax-entry ?\\ "\\" table)
    (modify-syntax-entry ?_ "_" table)
    (dolist (sign '(?+ ?- ?% ?& ?| ?^ ?= ?< ?> ?! ?~ ??))
      (modify-syntax-entry sign "." table))
    table)
  "Comments, strings and brackets.")

(defvar sluice-imenu-expression
  `(("Streams" ,(concat sluice--stream "\\([A-Za-z_][A-Za-z0-9_]*\\)") 1)
    ("Structures" "\\_<struct[ \t]+\\([A-Za-z_][A-Za-z0-9_]*\\)" 1)
    ("Functions" "\\_<\\(?:native\\|helper\\)[ \t]+\\([A-Za-z_][A-Za-z0-9_]*\\)" 1))
  "The outline without a server.")

(defun sluice--indentation ()
  "The column where the current line's text belongs."
  (save-excursion
    (back-to-indentation)
    (let* ((state (syntax-ppss))
           (open (nth 1 state)))
      (cond
       ((nth 3 state) nil)
       ((nth 4 state) (save-excursion (goto-char (nth 8 state)) (1+ (current-column))))
       ((not open) 0)
       (t
        (let ((closes (memq (char-after) '(?\} ?\) ?\])))
              (label (looking-at "\\(case\\_>[^\n]*\\|default[ \t]*\\):"))
              (column (save-excursion (goto-char open) (current-indentation)))
              (in-switch (save-excursion
                           (goto-char open)
                           (and (eq (char-after) ?\{) (looking-back "\\_<switch[ \t]*([^\n]*)[ \t]*" (line-beginning-position))))))
          (cond
           ((or closes (and in-switch label)) column)
           (t (+ column sluice-indent)))))))))

(defun sluice-indent-line ()
  "Indents the current line by the brackets around it."
  (interactive)
  (let ((column (sluice--indentation)))
    (when column
      (if (<= (current-column) (current-indentation))
          (indent-line-to column)
        (save-excursion (indent-line-to column))))))

;; [E0001] Error: title
;;    ╭─[ file:line:column ]
(defconst sluice--message
  '(sluice "^\\[\\([EW]\\)[0-9]\\{4\\}\\] \\(Error\\|\\(Warning\\)\\|\\(Advice\\)\\): .*\n *╭─\\[ \\(.+\\):\\([0-9]+\\):\\([0-9]+\\) \\]$"
           5 6 7 (3 . 4))
  "How the compiler writes messages.")

(unless (assq 'sluice compilation-error-regexp-alist-alist)
  (push sluice--message compilation-error-regexp-alist-alist)
  (push 'sluice compilation-error-regexp-alist))

(defun sluice--compile (&rest arguments)
  "Saves, and runs the compiler with ARGUMENTS."
  (save-some-buffers (not compilation-ask-about-save) (lambda () (derived-mode-p 'sluice-mode)))
  (let ((compilation-environment (cons "NO_COLOR=1" compilation-environment)))
    (compile (mapconcat #'shell-quote-argument (cons sluice-command arguments) " "))))

(defun sluice-run ()
  "Runs the program of this buffer."
  (interactive)
  (apply #'sluice--compile "run" (buffer-file-name) sluice-run-arguments))

(defun sluice-check ()
  "Lets the compiler look at the program of this buffer."
  (interactive)
  (sluice--compile "check" (buffer-file-name)))

(defun sluice-report ()
  "Shows graph, schedule and source of this buffer's program in a browser."
  (interactive)
  (let ((page (make-temp-file "sluice" nil ".html"))
        (file (buffer-file-name)))
    (save-buffer)
    (with-temp-buffer
      (if (zerop (call-process sluice-command nil t nil "report" file "-o" page))
          (browse-url-of-file page)
        (user-error "No report: %s" (buffer-string))))))

(defun sluice-toggle-hints ()
  "Shows the hints, or hides them."
  (interactive)
  (if (and (fboundp 'eglot-inlay-hints-mode) (eglot-managed-p))
      (eglot-inlay-hints-mode 'toggle)
    (user-error "Hints need Eglot (Emacs 29 or later) and `eglot-ensure'")))

(defun sluice--server (&optional _interactive)
  "What Eglot is to start."
  (append '(sluice-server) (list sluice-command "lsp")
          (and sluice-settings (list :initializationOptions sluice-settings))))

(with-eval-after-load 'eglot
  (require 'sluice-eglot)
  (add-to-list 'eglot-server-programs '(sluice-mode . sluice--server)))

(defvar sluice-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'sluice-run)
    (define-key map (kbd "C-c C-k") #'sluice-check)
    (define-key map (kbd "C-c C-r") #'sluice-report)
    (define-key map (kbd "C-c C-t") #'sluice-toggle-hints)
    map)
  "Keys of `sluice-mode'.")

;;;###autoload
(define-derived-mode sluice-mode prog-mode "Sluice"
  "Major mode for stream programs."
  (setq-local comment-start "// ")
  (setq-local comment-start-skip "\\(?://+\\|/\\*+\\)[ \t]*")
  (setq-local comment-end "")
  (setq-local font-lock-defaults '(sluice-font-lock-keywords))
  (setq-local indent-line-function #'sluice-indent-line)
  (setq-local imenu-generic-expression sluice-imenu-expression)
  (setq-local electric-indent-chars (append '(?\} ?\) ?\] ?:) electric-indent-chars))
  (setq-local indent-tabs-mode nil))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.str\\'" . sluice-mode))

(provide 'sluice-mode)

;;; sluice-mode.el ends here
